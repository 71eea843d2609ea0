"""What must hold of a component whatever its numbers are; a module a subject."""
