/* Four activation functions and a point on them; below, how far the two forms of GELU are apart. */
(() => {
  const { gelu, geluTanh, silu, relu } = TransformerMaths;
  const { fixed, plain, small } = TransformerElement;
  const CURVES = { gelu, tanh: geluTanh, silu, relu };

  class Activations extends TransformerElement {
    connectedCallback() {
      super.connectedCallback();
      for (const plot of this.querySelectorAll("svg[data-plot]")) {
        const follow = (event) => event.buttons && this.set({ x: this.under(event, plot) });
        plot.addEventListener("pointerdown", follow);
        plot.addEventListener("pointermove", follow);
      }
    }

    /* The x below the pointer, to a tenth. */
    under(event, plot) {
      const box = plot.getBoundingClientRect();
      const { left, right, width, low, high } = this.data;
      const place = ((event.clientX - box.left) / box.width) * width;
      const x = low + ((place - left) / (right - left)) * (high - low);
      return Math.max(low, Math.min(high, Number(x.toFixed(1))));
    }

    across(x) {
      const { left, right, low, high } = this.data;
      return (left + ((x - low) / (high - low)) * (right - left)).toFixed(2);
    }

    /* Move a mark of a plot to the value y at x. */
    mark(plot, key, x, y) {
      const { top, bottom, least, most } = this.data.plots[plot];
      const down = bottom - ((y - least) / (most - least)) * (bottom - top);
      const mark = this.querySelector(`[data-mark="${key}"]`);
      mark.setAttribute("transform", `translate(${this.across(x)} ${down.toFixed(2)})`);
    }

    render({ x }) {
      const values = {};
      for (const [name, curve] of Object.entries(CURVES)) {
        values[name] = curve(x);
        this.put(name, fixed(values[name], 5));
        this.mark("curves", name, x, values[name]);
      }
      const gap = values.tanh - values.gelu;
      this.put("gap", small(gap));
      this.mark("gap", "gap", x, gap);
      for (const guide of this.querySelectorAll("[data-guide]"))
        guide.setAttribute("transform", `translate(${this.across(x)} 0)`);
      return `${this.compare(x, values)} The two forms of GELU differ by ${small(Math.abs(gap))} here.`;
    }

    compare(x, values) {
      const at = `At x = ${plain(x)}`;
      const [g, s] = [values.gelu, values.silu].map((value) => small(value));
      if (x === 0)
        return `${at} all four are 0: ReLU has a corner there, the others pass with slope 1/2.`;
      if (x < 0)
        return `${at} ReLU gives 0 and no gradient, while GELU lets ${g} through and SiLU ${s}.`;
      if (x < 3) return `${at} ReLU passes all of x, GELU ${g} and SiLU ${s}.`;
      return `${at} GELU is ${g} and nearly x itself, as ReLU is; SiLU, ${s}, takes longer.`;
    }
  }

  TransformerElement.define("activations", Activations);
})();
