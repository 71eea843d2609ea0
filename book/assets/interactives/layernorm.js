/* LayerNorm of five numbers, step by step, and RMSNorm beside it. */
(() => {
  const { mean, layerNorm, rmsNorm } = TransformerMaths;
  const { fixed, plain } = TransformerElement;
  const ENTRIES = [0, 1, 2, 3, 4];
  const STEPS = ["x", "centred", "normalised", "output"];

  const entries = (state) => ENTRIES.map((i) => state[`x-${i}`]);
  const deviation = (x) => Math.sqrt(layerNorm(x).variance);
  const allSet = (change) => (state) =>
    Object.fromEntries(
      ENTRIES.map((i) => [`x-${i}`, Number(change(state[`x-${i}`], state).toFixed(9))]),
    );

  class LayerNorm extends TransformerElement {
    get actions() {
      return {
        equal: allSet((_, state) => state["x-0"]),
        add: allSet((value) => value + 1),
        double: allSet((value) => 2 * value),
      };
    }

    render(state) {
      const x = entries(state);
      const rms = state.norm === "rms";
      const { gamma, beta } = state;
      const result = rms ? { centred: x, ...rmsNorm(x, { gamma }) } : layerNorm(x, { gamma, beta });
      const columns = { ...result, x };
      const largest = Math.max(...STEPS.flatMap((step) => columns[step].map(Math.abs)), 1e-9);
      for (const step of STEPS)
        columns[step].forEach((value, i) => {
          if (step !== "x") this.put(`${step}-${i}`, fixed(value, 3));
          this.bar(`${step}-${i}`, value / largest);
        });
      this.put("centred-head", rms ? "x as it is" : "x \u2212 \u03bc");
      const root = rms ? "\u221a(mean x\u00b2 + \u03b5)" : "\u221a(\u03c3\u00b2 + \u03b5)";
      this.put("normalised-head", `\u00f7 ${root}`);
      this.put("output-head", rms ? "\u00b7 \u03b3" : "\u00b7 \u03b3 + \u03b2");
      this.put("mean", fixed(mean(x), 3));
      this.put("deviation", fixed(deviation(x), 3));
      this.put("divisor-label", `divided by ${root} =`);
      this.put("divisor", fixed(result.divisor, 6));
      for (const input of this.inputs("beta")) input.disabled = rms;
      return rms ? this.findRms(x, result) : this.findLayer(state, x, result);
    }

    findLayer({ beta }, x, { divisor, normalised, output }) {
      if (x.every((value) => value === x[0]))
        return (
          "All entries are equal, so x \u2212 \u03bc and \u03c3 are 0. Thanks to \u03b5 this is " +
          `0 / ${fixed(divisor, 6)} and not 0 / 0: the output is \u03b2 = ${plain(beta)} everywhere.`
        );
      const after = deviation(normalised);
      const why =
        after > 0.9995 ? "whatever x was" : "less than 1, since \u03b5 is not small beside \u03c3\u00b2";
      return (
        `After the division the mean is 0 and the deviation ${fixed(after, 3)}, ${why}. ` +
        `\u03b3 and \u03b2 then set the deviation to ${fixed(deviation(output), 3)} ` +
        `and the mean to ${fixed(mean(output), 3)}.`
      );
    }

    findRms(x, { divisor, square, normalised }) {
      if (square === 0)
        return `All entries are 0. Thanks to \u03b5 this is 0 / ${fixed(divisor, 6)} and not 0 / 0.`;
      if (x.every((value) => value === x[0]))
        return (
          "All entries are equal, and RMSNorm keeps them: no mean is taken off, so nothing becomes 0."
        );
      const after = Math.sqrt(rmsNorm(normalised).square);
      return (
        `After the division the root mean square is ${fixed(after, 3)}, but the mean is ` +
        `${fixed(mean(normalised), 3)}: RMSNorm takes no mean off, and it has no \u03b2.`
      );
    }
  }

  TransformerElement.define("layernorm", LayerNorm);
})();
