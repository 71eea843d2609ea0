/* A heat map of attention: one panel for each head, and one row at a time told in words. */
(() => {
  class Heads extends TransformerElement {
    connectedCallback() {
      super.connectedCallback();
      for (const tabs of this.querySelectorAll("[role=tablist]")) this.arrows(tabs);
      for (const line of this.querySelectorAll("tr[data-row]"))
        line.addEventListener("pointerenter", () => {
          const row = Number(line.dataset.row);
          if (row !== this.state.row) this.set({ row });
        });
    }

    get heads() {
      return this.data.groups.flatMap((group) => group.heads);
    }

    get actions() {
      return Object.fromEntries(this.heads.map((_, head) => [`head-${head}`, () => ({ head })]));
    }

    render({ head, row }) {
      for (const panel of this.querySelectorAll("[role=tabpanel]"))
        panel.hidden = Number(panel.dataset.head) !== head;
      for (const tabs of this.querySelectorAll("[role=tablist]")) this.select([...tabs.children], head);
      for (const line of this.querySelectorAll("tr[data-row]"))
        line.classList.toggle("tf-chosen", Number(line.dataset.row) === row);
      const { name, weights } = this.heads[head];
      return `${name}: ${TransformerAttention.told(this.data.words, weights[row], row)}`;
    }

    /* The Tab key reaches the chosen tab of a list, or else its first. */
    select(tabs, head) {
      const chosen = tabs.find((tab) => tab.dataset.action === `head-${head}`);
      for (const tab of tabs) {
        tab.setAttribute("aria-selected", tab === chosen);
        tab.tabIndex = tab === (chosen ?? tabs[0]) ? 0 : -1;
      }
    }
  }

  TransformerElement.define("heads", Heads);
})();
