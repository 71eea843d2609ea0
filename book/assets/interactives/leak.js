/* The causal mask: one word is changed, and the forward pass run before and after, by gpt2.js. */
(() => {
  const { forward } = TransformerGPT2;
  const { fixed, quoted } = TransformerElement;

  const difference = (x) => (x === 0 ? "0" : TransformerElement.small(x));
  const largestGap = (a, b) => Math.max(...a.map((x, i) => Math.abs(x - b[i])));

  class Leak extends TransformerElement {
    render({ place, word, causal }) {
      const { words, sentence } = this.data;
      const { before, after, differences } = this.compare(place, word, causal);
      const largest = Math.max(...differences);
      differences.forEach((x, t) => {
        this.put(`read-${t}`, words[t === place ? word : sentence[t]]);
        this.put(`before-${t}`, this.likeliest(before.probs[t]));
        this.put(`after-${t}`, this.likeliest(after.probs[t]));
        this.put(`difference-${t}`, difference(x));
        this.bar(`difference-${t}`, x / (largest || 1));
        this.put(`verdict-${t}`, x === 0 ? "the same" : t < place ? "changed: leak" : "changed");
        this.querySelector(`[data-row="${t}"]`).classList.toggle("tf-altered", x !== 0);
      });
      this.put("other", this.find(place, word, !causal)); // on paper there is no switch
      return this.find(place, word, causal);
    }

    /* What the positions compute with the sentence and with the changed one; their largest gaps. */
    compare(place, word, causal) {
      const { sentence } = this.data;
      const changed = sentence.map((id, t) => (t === place ? word : id));
      const [before, after] = [sentence, changed].map((ids) => forward(this.data, ids, { causal }));
      return { before, after, differences: before.X1.map((x, t) => largestGap(x, after.X1[t])) };
    }

    likeliest(probs) {
      const i = TransformerMaths.best(probs)[0];
      return `${quoted(this.data.words[i])} ${fixed(probs[i], 2)}`;
    }

    find(place, word, causal) {
      const { words, sentence, weights } = this.data;
      const old = sentence[place];
      if (word === old) return `Position ${place} reads ${quoted(words[old])} as before: nothing was changed.`;
      const change = `Position ${place} now reads ${quoted(words[word])} in place of ${quoted(words[old])}`;
      if (largestGap(weights.E[word], weights.E[old]) === 0)
        return (
          `${change}, and nothing changes anywhere: both have the same row in E. ` +
          "They are used alike, and that is all that the model knows of them."
        );
      if (place === 0)
        return `${change}. No position stands before it, and all that come after it may change.`;
      const gaps = this.compare(place, word, causal).differences.slice(0, place);
      const earlier = Math.max(...gaps);
      const first = place === 1 ? "position 0 computes what it" : `positions 0 to ${place - 1} compute what they`;
      if (causal)
        return (
          `${change}. With the mask, ${first} computed before: ` +
          `the largest difference is exactly ${difference(earlier)}.`
        );
      const leaking = gaps.filter((x) => x !== 0).length;
      const who = place === 1 ? "position 0 changes" : `${leaking} of the ${place} positions before it change`;
      const they = place === 1 ? "it reads what comes after it" : "they read what comes after them";
      return (
        `${change}. Without the mask ${who} as well, by up to ${difference(earlier)}: ${they}. ` +
        "This is a leak."
      );
    }
  }

  TransformerElement.define("leak", Leak);
})();
