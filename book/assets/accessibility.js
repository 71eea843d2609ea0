/* Repairs what the theme leaves behind for screen readers and for print. A classic script: file:// blocks modules. */
(() => {
  const each = (selector, repair) => document.querySelectorAll(selector).forEach(repair);

  // An aria-label that differs from the visible text breaks voice control.
  each("details.hide > summary[aria-label], .search-button-field[aria-label]", (element) =>
    element.removeAttribute("aria-label"));
  each("#pst-primary-sidebar:not([role])", (sidebar) => {
    sidebar.setAttribute("role", "complementary");
    sidebar.setAttribute("aria-label", "Book");
  });
  // doc-biblioentry is deprecated, and the list role then lacks its children.
  each('.citation-list[role], [role="doc-biblioentry"]', (element) =>
    element.removeAttribute("role"));

  // On paper: what is folded on the screen, and dark on light whatever the screen has.
  const root = document.documentElement;
  addEventListener("beforeprint", () => {
    root.dataset.themeOnScreen = root.dataset.theme;
    root.dataset.theme = "light";
    each("details:not([open])", (details) => {
      details.open = true;
      details.dataset.openedForPrint = "";
    });
  });
  addEventListener("afterprint", () => {
    root.dataset.theme = root.dataset.themeOnScreen;
    delete root.dataset.themeOnScreen;
    each("details[data-opened-for-print]", (details) => {
      details.open = false;
      delete details.dataset.openedForPrint;
    });
  });
})();
