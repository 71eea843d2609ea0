/* Repairs what the theme leaves behind for screen readers and for print. A classic script: file:// blocks modules. */
(() => {
  const each = (selector, repair) => document.querySelectorAll(selector).forEach(repair);

  const repairNames = () => {
    // An aria-label that differs from the visible text breaks voice control.
    each("details.hide > summary[aria-label], .search-button-field[aria-label]", (element) =>
      element.removeAttribute("aria-label"));
    // The button is named; its icons must not add names of their own.
    each(".theme-switch-button svg", (icon) => {
      icon.querySelectorAll("title").forEach((title) => title.remove());
      icon.removeAttribute("aria-labelledby");
      icon.setAttribute("aria-hidden", "true");
    });
  };

  const repairRoles = () => {
    each("#pst-primary-sidebar:not([role])", (sidebar) => {
      sidebar.setAttribute("role", "complementary");
      sidebar.setAttribute("aria-label", "Book");
    });
    // doc-biblioentry is deprecated, and the list role then lacks its children.
    each('.citation-list[role], [role="doc-biblioentry"]', (element) =>
      element.removeAttribute("role"));
  };

  repairNames();
  repairRoles();
  // Font Awesome swaps its icons in after load, and again at every change of theme.
  each(".theme-switch-button", (button) =>
    new MutationObserver(repairNames).observe(button, { childList: true }));

  // What is folded on the screen must be on paper.
  addEventListener("beforeprint", () =>
    each("details:not([open])", (details) => {
      details.open = true;
      details.dataset.openedForPrint = "";
    }));
  addEventListener("afterprint", () =>
    each("details[data-opened-for-print]", (details) => {
      details.open = false;
      delete details.dataset.openedForPrint;
    }));
})();
