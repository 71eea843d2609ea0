/* The forward pass of the running example in six stages; every number is computed here, by gpt2.js. */
(() => {
  const { best, layerNorm, mean } = TransformerMaths;
  const { forward, length } = TransformerGPT2;
  const { fixed, quoted } = TransformerElement;
  const STAGES = 6;
  const TABLES = { X0: "X0", ln: "ln_1_0", attn: "attn_0", mid: "mid_0", X1: "X1", probs: "probs" };

  const ids = ({ T, ...state }) => Array.from({ length: T }, (_, t) => state[`w-${t}`]);

  class ForwardPass extends TransformerElement {
    connectedCallback() {
      super.connectedCallback();
      this.arrows(this.querySelector(".tf-strip"));
    }

    get longest() {
      return this.data.config.n_positions;
    }

    get actions() {
      const to = (stage) => ({ stage: Math.max(0, Math.min(stage, STAGES - 1)) });
      const stages = Array.from({ length: STAGES }, (_, i) => [`stage-${i}`, () => to(i)]);
      return {
        ...Object.fromEntries(stages),
        previous: ({ stage }) => to(stage - 1),
        next: ({ stage }) => to(stage + 1),
        append: (state) => this.append(state),
        remove: ({ T, position }) => T > 1 ? { T: T - 1, position: Math.min(position, T - 2) } : {},
      };
    }

    append(state) {
      const { T } = state;
      if (T === this.longest) return {};
      const next = forward(this.data, ids(state)).probs[T - 1];
      return { [`w-${T}`]: best(next)[0], T: T + 1, position: T };
    }

    render(state) {
      const { T, stage, position: t, head } = state;
      const words = ids(state).map((id) => this.data.words[id]);
      const s = forward(this.data, ids(state));
      this.showSizes(s, words, t);
      this.showStage(stage);
      for (const [key, name] of Object.entries(TABLES)) this.grid(key, s[name]);
      this.showPosition(s, ids(state)[t], t);
      this.showHead(s, t, head);
      const sentences = this.said(s, words, t, head);
      sentences.forEach((sentence, i) => this.put(`said-${i}`, sentence));
      return sentences[stage];
    }

    showSizes(s, words, t) {
      const T = words.length;
      for (const row of this.querySelectorAll("[data-row], [data-place]")) {
        const at = Number(row.dataset.row ?? row.dataset.place);
        row.hidden = at >= T;
        row.classList.toggle("tf-chosen", row.dataset.row !== undefined && at === t);
      }
      words.forEach((word, i) => this.put(`word-${i}`, word));
      Object.values(TABLES).forEach((name, i) => this.put(`shape-${i}`, `(${T}, ${s[name][0].length})`));
      this.able("append", T < this.longest);
      this.able("remove", T > 1);
    }

    showStage(stage) {
      for (const panel of this.querySelectorAll("section")) panel.hidden = Number(panel.dataset.stage) !== stage;
      for (const button of this.querySelectorAll(".tf-stage")) {
        if (button.dataset.action === `stage-${stage}`) button.setAttribute("aria-current", "step");
        else button.removeAttribute("aria-current");
      }
      this.able("previous", stage > 0);
      this.able("next", stage < STAGES - 1);
    }

    /* A button that has nothing to do says so, and keeps the focus. */
    able(action, can) {
      this.querySelector(`[data-action="${action}"]`).setAttribute("aria-disabled", !can);
    }

    showPosition(s, id, t) {
      const { data } = this;
      const { centred, normalised } = layerNorm(s.X0[t]);
      this.put("name", quoted(data.words[id]));
      this.put("id", id);
      this.put("t", t);
      this.grid("embed", [s.tokens[t], s.places[t], s.X0[t]]);
      this.grid("norm", [s.X0[t], centred, normalised, s.ln_1_0[t]]);
      const bias = data.weights["blocks.0.attn.b_O"];
      this.grid("write", [...s.writes_0.map((write) => write[t]), bias, s.attn_0[t]]);
      this.grid("residual", [s.X0[t], s.attn_0[t], s.mid_0[t]]);
      this.grid("units", [s.up_0[t], s.act_0[t]].map((row) => data.alive.map((j) => row[j])));
      this.grid("ffn", [s.mid_0[t], s.ln_2_0[t], s.ffn_0[t], s.X1[t]]);
      this.grid("final", [s.ln_f[t]]);
      s.probs[t].forEach((p, i) => {
        this.put(`logit-${i}`, fixed(s.logits[t][i], 2));
        this.put(`p-${i}`, fixed(p, 3));
        this.bar(`p-${i}`, p);
      });
    }

    showHead(s, t, head) {
      this.put("head-name", head);
      this.vector("q", s.Q_0[head][t]);
      this.vector("mixed", s.heads_0[head][t]);
      s.K_0[head].forEach((k, i) => {
        const seen = i <= t;
        const weight = s.A_0[head][t][i];
        this.vector(`k-${i}`, k);
        this.vector(`v-${i}`, s.V_0[head][i]);
        this.put(`score-${i}`, seen ? fixed(s.S_0[head][t][i], 2) : "masked");
        this.put(`weight-${i}`, seen ? fixed(weight, 2) : "masked");
        this.bar(`weight-${i}`, weight);
        this.querySelector(`[data-look="${i}"]`).classList.toggle("tf-unseen-row", !seen);
      });
    }

    vector(key, values) {
      values.forEach((x, i) => this.put(`${key}-${i}`, fixed(x, 2)));
    }

    /* Numbers into the cells of a table, each with a tint as strong as its share of the largest. */
    grid(key, rows) {
      const largest = Math.max(...rows.flat().map(Math.abs));
      rows.forEach((row, r) => {
        this.vector(`${key}-${r}`, row);
        row.forEach((x, i) => this.bar(`${key}-${r}-${i}`, Math.abs(x) / (largest || 1)));
      });
    }

    /* What is to be seen at position t, a sentence for each stage; said() of forward_pass.py. */
    said(s, words, t, head) {
      const [word, x, attn, act] = [quoted(words[t]), s.X0[t], s.attn_0[t], s.act_0[t]];
      const i = best(attn.map(Math.abs))[0];
      const j = best(act)[0];
      const next = (n) => [quoted(this.data.words[n]), fixed(s.probs[t][n], 3)];
      const [first, second] = best(s.probs[t]).map(next);
      const size = (vector) => fixed(length(vector), 2);
      return [
        `${word} has the id ${this.data.words.indexOf(words[t])} and stands at position ${t}: two rows are ` +
          "added, and no position knows of another yet.",
        `The ${x.length} numbers of ${word} have the mean ${fixed(mean(x), 2)} and the deviation ` +
          `${fixed(Math.sqrt(layerNorm(x).variance), 2)}. They are brought to 0 and 1, then \u03b3 and \u03b2, ` +
          "which were learnt, scale and shift each entry.",
        `Head ${head}: ${TransformerAttention.told(words, s.A_0[head][t], t)}`,
        `Attention adds a vector of length ${size(attn)} to one of length ${size(x)}. Entry ${i} ` +
          `changes most, by ${fixed(attn[i], 2)}; nothing is overwritten.`,
        `${this.data.alive.length} of the ${act.length} hidden units are at work, the others are 0 for every ` +
          `word. For ${word} the largest is unit ${j}, ${fixed(act[j], 2)}. The FFN adds a vector ` +
          `of length ${size(s.ffn_0[t])}.`,
        `After ${quoted(words.slice(0, t + 1).join(" "))} the likeliest next word is ${first[0]}, with ` +
          `probability ${first[1]}, and then ${second[0]} with ${second[1]}.`,
      ];
    }
  }

  TransformerElement.define("forward-pass", ForwardPass);
})();
