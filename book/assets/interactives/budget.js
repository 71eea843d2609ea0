/* Where the parameters of a GPT-2 sit, exactly, and how good 12 d^2 L is. */
(() => {
  const { parameterCounts } = TransformerMaths;
  const { count, fixed } = TransformerElement;
  const VISIBLE = 0.04; // the narrowest segment that has room for its number

  const percent = (part, whole, digits) => `${fixed((100 * part) / whole, digits)}\u00a0%`;

  class Budget extends TransformerElement {
    get actions() {
      const { presets } = this.data;
      return Object.fromEntries(Object.keys(presets).map((name) => [name, () => presets[name]]));
    }

    render(state) {
      const { total, ...parts } = parameterCounts(state);
      Object.entries(parts).forEach(([part, parameters], i) => {
        const share = parameters / total;
        this.put(part, count(parameters));
        this.put(`share-${part}`, percent(parameters, total, 2));
        this.put(`mark-${part}`, share < VISIBLE ? "" : String(i + 1));
        this.bar(part, share);
      });
      const rule = 12 * state.d ** 2 * state.L;
      const blocks = parts.attention + parts.feedforward + 4 * state.d * state.L;
      const tables = parts.token_embedding + parts.position_embedding + parts.unembedding;
      this.put("total", count(total));
      this.put("blocks", count(blocks));
      this.put("rule", count(rule));
      this.put("total-error", percent(rule - total, total, 2));
      this.put("blocks-error", percent(rule - blocks, blocks, 2));

      const fits = ([, preset]) => Object.keys(preset).every((key) => preset[key] === state[key]);
      const [model] = Object.entries(this.data.presets).find(fits) ?? [];
      for (const button of this.querySelectorAll("[aria-pressed]"))
        button.setAttribute("aria-pressed", String(button.dataset.action === model));
      const subject = model ? `GPT-2 ${model}` : "This model";
      return (
        `${subject} has ${count(total)} parameters, ${percent(blocks, total, 1)} of them in its ` +
        `blocks. 12 d\u00b2 L counts only the matrices there, and is ` +
        `${percent(total - rule, total, 1)} below the total: ` +
        (2 * blocks < total
          ? "most of the model is its tables."
          : `the tables make up ${percent(tables, total - rule, 1)} of the difference.`)
      );
    }
  }

  TransformerElement.define("budget", Budget);
})();
