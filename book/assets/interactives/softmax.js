/* One row of attention: fits -> raw scores -> softmax -> weights, and how much gradient is left. */
(() => {
  const { softmax, softmaxGradient } = TransformerMaths;
  const { fixed, plain, small } = TransformerElement;
  const LARGEST_GRADIENT = 0.25; // a (1 - a) at a = 1/2
  const PEAKED = 0.05; // below this gradient

  class Softmax extends TransformerElement {
    render(state) {
      const fits = this.data.words.map((_, i) => state[`fit-${i}`]);
      const root = Math.sqrt(state.d_k);
      const scores = fits.map((fit) => fit * root);
      const inputs = state.divide ? fits : scores;
      const weights = softmax(inputs, state.temperature);
      const gradient = softmaxGradient(weights);
      weights.forEach((weight, i) => {
        this.put(`score-${i}`, fixed(scores[i], 1));
        this.put(`input-${i}`, fixed(inputs[i] / state.temperature, 2));
        this.put(`weight-${i}`, fixed(weight, 3));
        this.bar(`weight-${i}`, weight);
      });
      this.put("gradient", small(gradient));
      this.bar("gradient", gradient / LARGEST_GRADIENT);

      const other = softmax(state.divide ? scores : fits, state.temperature);
      const first = weights.indexOf(Math.max(...weights));
      if (fits.every((fit) => fit === fits[0]))
        return "Equal scores give equal weights, and dividing them changes nothing.";
      const divided = `divided by \u221a${state.d_k} = ${plain(Number(root.toFixed(2)))}`;
      const [now, then] = state.divide ? [divided, "undivided"] : ["undivided", divided];
      return (
        `${now[0].toUpperCase()}${now.slice(1)}, ${this.data.words[first]} (position ${first}) ` +
        `gets the largest weight, ${fixed(weights[first], 3)}; ${then} it would get ${fixed(other[first], 3)}. ` +
        (gradient < PEAKED
          ? "The row is peaked, and its gradient too small to learn from."
          : "The gradient is large enough to learn from.")
      );
    }
  }

  TransformerElement.define("softmax", Softmax);
})();
