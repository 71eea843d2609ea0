/* From a row of logits to a word: temperature, top-k, top-p, and a number u that falls on a line. */
(() => {
  const { sum, softmax, sampler, pieceOf, uniform } = TransformerMaths;
  const { count, fixed, plain, quoted } = TransformerElement;
  const VISIBLE = 0.16; // the narrowest piece that has room for its word

  const orDash = (text) => (x) => (x === null ? "\u2013" : text(x));
  const sumBefore = orDash((x) => fixed(x, 3));
  const inPercent = orDash((x) => fixed(100 * x, 1));
  const percent = (share) => `${inPercent(share)}\u00a0%`;

  class Sampling extends TransformerElement {
    get actions() {
      const draw = (more) => ({ n }) => ({ n: n + more, u: uniform(this.data.seed, n + more) });
      return { draw: draw(1), "draw-100": draw(100) };
    }

    render(state) {
      const { words } = this.data;
      const logits = this.data.logits[state.context];
      const s = sampler(logits, state);
      s.model = softmax(s.order.map((i) => logits[i]));
      s.words = s.order.map((i) => words[i]);
      s.fallen = pieceOf(s.after, state.u);
      this.count(s, state.n);
      s.words.forEach((word, rank) => {
        this.put(`word-${rank}`, word);
        this.showCuts(s, rank);
        this.showPiece(s, rank);
        this.showDraws(s, rank);
      });
      this.put("drawn", s.words[s.fallen]);
      this.bar("u", state.u);
      return `${this.findCuts(s, state)} ${this.findDraws(s, state)}`;
    }

    /* How often each word is drawn by the first n numbers of the generator, whatever the settings. */
    count(s, n) {
      s.counts = s.words.map(() => 0);
      for (let i = 1; i <= n; i++) s.counts[pieceOf(s.after, uniform(this.data.seed, i))]++;
      s.shares = s.counts.map((times) => (n ? times / n : null));
      s.errors = s.after.map((share) => (n ? Math.sqrt((share * (1 - share)) / n) : null));
    }

    showCuts({ model, tempered, before, cut, after }, rank) {
      this.put(`model-${rank}`, fixed(model[rank], 3));
      for (const [key, shares] of Object.entries({ tempered, after })) {
        this.put(`${key}-${rank}`, fixed(shares[rank], 3));
        this.bar(`${key}-${rank}`, shares[rank]);
      }
      this.put(`before-${rank}`, sumBefore(before[rank]));
      this.put(`verdict-${rank}`, cut[rank] ? `cut by\u00a0${cut[rank]}` : "kept");
      this.querySelector(`[data-row="${rank}"]`).classList.toggle("tf-unseen-row", cut[rank] !== "");
    }

    showPiece({ words, after, fallen }, rank) {
      const piece = this.querySelector(`[data-bar="piece-${rank}"]`);
      piece.classList.toggle("tf-stream", rank === fallen);
      piece.classList.toggle("tf-muted", rank !== fallen);
      this.put(`piece-${rank}`, after[rank] < VISIBLE ? "" : words[rank]);
      this.bar(`piece-${rank}`, after[rank]);
    }

    showDraws({ counts, shares, after, errors }, rank) {
      this.put(`count-${rank}`, counts[rank]);
      this.put(`share-${rank}`, inPercent(shares[rank]));
      this.put(`expected-${rank}`, inPercent(after[rank]));
      this.put(`error-${rank}`, inPercent(errors[rank]));
    }

    findCuts({ order, words, tempered, cut }, { context, temperature, k }) {
      if (temperature === 0)
        return `\u03c4 = 0 is greedy: ${quoted(words[0])} alone stays, whatever k and p are.`;
      const logits = this.data.logits[context];
      const by = (rule) => cut.filter((each) => each === rule).length;
      const cuts = ["k", "p"].filter((rule) => by(rule)).map((rule) => `${rule} cuts ${by(rule)}`);
      const mass = sum(tempered.filter((_, rank) => !cut[rank]));
      const all = `the ${words.length} words`;
      const said = cuts.length
        ? `${by("")} of ${all} ${by("") === 1 ? "stays" : "stay"}, with ${fixed(mass, 3)} of the ` +
          `probability: ${cuts.join(" and ")}.`
        : `Nothing is cut: any of ${all} may be drawn.`;
      if (k === words.length || logits[order[k - 1]] !== logits[order[k]]) return said;
      return `${said} ${quoted(words[k - 1])} and ${quoted(words[k])} tie for place ${k}, and k keeps one.`;
    }

    findDraws({ words, after, fallen, counts, shares, errors }, { u, n }) {
      const said = `u = ${plain(u)} falls in the piece of ${quoted(words[fallen])}.`;
      if (n === 0) return `${said} Nothing has been drawn yet.`;
      return (
        `${said} ${count(counts[0])} of ${count(n)} ${n === 1 ? "draw is" : "draws are"} ` +
        `${quoted(words[0])}, ${percent(shares[0])}; ${percent(after[0])} are expected, with a standard ` +
        `error of ${percent(errors[0])}.`
      );
    }
  }

  TransformerElement.define("sampling", Sampling);
})();
