/* What the interactives share. A page arrives with each of them drawn at build and its controls
   asleep; this class wakes them and keeps the drawing true to them. A subclass has

     render(state)   brings the drawing up to date with put() and bar(), and returns the finding,
                     the sentence that says in words what is to be seen;
     actions         optional: what its buttons do, name -> state => the entries that change. */
const TransformerElement = (() => {
  const ANNOUNCE_AFTER = 250; // ms: a slider on its way would flood a screen reader
  const REFUSE_AFTER = 600; // ms: "-" may yet become "-3"

  const signed = (text) => text.replaceAll("-", "\u2212");

  /* One live region for the page: visible sentences change at once, spoken ones when all is still. */
  let region;
  let timer;
  const announce = (text) => {
    clearTimeout(timer);
    timer = setTimeout(() => (region.textContent = text), ANNOUNCE_AFTER);
  };

  class TransformerElement extends HTMLElement {
    static define(name, element) {
      customElements.define(`tf-${name}`, element);
    }

    /* Numbers as text, as parts.py writes them at build. */
    static fixed(x, digits) {
      const text = x.toFixed(digits);
      return signed(Number(text) === 0 ? text.replace("-", "") : text);
    }

    static small(x) {
      const { fixed } = TransformerElement;
      return x === 0 || Math.abs(x) >= 0.001 ? fixed(x, 4) : signed(x.toExponential(1));
    }

    static count(x) {
      return signed(x.toLocaleString("en-US"));
    }

    static quoted(word) {
      return `\u201c${word}\u201d`;
    }

    static plain(x) {
      return signed(String(x));
    }

    connectedCallback() {
      if (this.state) return; // moved within its page
      if (!region) {
        region = document.createElement("div");
        region.className = "tf-unseen";
        region.setAttribute("role", "status");
        document.body.append(region);
      }
      const data = this.querySelector("script[type='application/json']");
      this.data = data && JSON.parse(data.textContent);
      this.state = {};
      for (const input of this.inputs()) {
        if (input.type === "number") input.value = input.defaultValue; // not that of before a reload
        if (input.type === "radio" || input.type === "checkbox") input.checked = input.defaultChecked;
        if (input.type === "radio" && !input.checked) continue;
        this.state[input.dataset.name] = this.read(input);
      }
      this.initial = { ...this.state };
      this.showInputs(this.initial);
      this.tell(this.render(this.state));
      this.addEventListener("input", (event) => this.onInput(event.target));
      this.addEventListener("focusout", (event) => this.onLeave(event.target));
      this.addEventListener("click", (event) => this.onClick(event.target));
    }

    inputs(name) {
      return this.querySelectorAll(name ? `[data-name="${name}"]` : "[data-name]");
    }

    /* The value of an input; null where it holds nothing that can be used. */
    read(input) {
      if (input.type === "checkbox") return input.checked;
      if (input.type === "radio") return isNaN(input.value) ? input.value : Number(input.value);
      return input.value === "" || !input.validity.valid ? null : Number(input.value);
    }

    onInput(input) {
      const name = input.dataset.name;
      if (!name) return;
      clearTimeout(this.refusal);
      const value = this.read(input);
      if (value !== null) this.set({ [name]: value }, input);
      else this.refusal = setTimeout(() => this.refuse(input), REFUSE_AFTER);
    }

    refuse(input) {
      input.setAttribute("aria-invalid", "true");
      this.complain(this.needs(input, input.dataset.name));
    }

    /* What cannot be used does not stay in its box. */
    onLeave(input) {
      if (!input.dataset.name || this.read(input) !== null) return;
      clearTimeout(this.refusal);
      this.refuse(input);
      input.removeAttribute("aria-invalid");
      input.value = this.state[input.dataset.name];
    }

    onClick(target) {
      const action = target.closest("button")?.dataset.action;
      if (!action) return;
      const changes = action === "reset" ? this.initial : this.actions[action](this.state);
      for (const [name, value] of Object.entries(changes)) {
        const input = this.querySelector(`[type="number"][data-name="${name}"]`);
        if (input && (value < Number(input.min) || value > Number(input.max))) {
          this.complain(this.needs(input, name));
          return;
        }
      }
      this.set(changes);
    }

    needs(input, name) {
      const kind = input.step === "1" ? "a whole number" : "a number";
      const { plain } = TransformerElement;
      const range = `from ${plain(input.min)} to ${plain(input.max)}`;
      return `${input.dataset.label} must be ${kind} ${range}. It stays ${plain(this.state[name])}.`;
    }

    complain(text) {
      this.querySelector(".tf-problem").textContent = text;
      announce(text);
    }

    /* Change entries of the state, and everything that shows them but `source`, where one types. */
    set(changes, source) {
      Object.assign(this.state, changes);
      this.showInputs(changes, source);
      this.querySelector(".tf-problem").textContent = "";
      const finding = this.render(this.state);
      this.tell(finding);
      announce(finding);
    }

    tell(finding) {
      this.querySelector(".tf-finding").textContent = finding;
    }

    showInputs(changes, source) {
      for (const [name, value] of Object.entries(changes)) {
        for (const input of this.inputs(name)) {
          input.removeAttribute("aria-invalid");
          if (input === source) continue;
          if (input.type === "checkbox") input.checked = value;
          else if (input.type === "radio") input.checked = input.value === String(value);
          else input.value = value;
        }
        this.put(name, this.words(name, value));
      }
    }

    /* How the value of a control reads where controls are not shown: on paper. */
    words(name, value) {
      const select = this.querySelector(`select[data-name="${name}"]`);
      if (select) return select.selectedOptions[0].text;
      if (typeof value === "boolean") return value ? "yes" : "no";
      const radio = this.querySelector(`[type="radio"][data-name="${name}"]:checked`);
      return radio ? radio.dataset.label : TransformerElement.plain(value);
    }

    /* Along a row of buttons the arrow keys, Home and End move, and press what they reach. */
    arrows(row) {
      row.addEventListener("keydown", (event) => {
        const buttons = [...row.querySelectorAll("button")];
        const at = buttons.indexOf(event.target);
        const last = buttons.length - 1;
        const next = {
          ArrowRight: Math.min(at + 1, last), ArrowDown: Math.min(at + 1, last),
          ArrowLeft: Math.max(at - 1, 0), ArrowUp: Math.max(at - 1, 0),
          Home: 0, End: last,
        }[event.key];
        if (at < 0 || next === undefined) return;
        event.preventDefault();
        buttons[next].focus();
        buttons[next].click();
      });
    }

    put(key, text) {
      for (const place of this.querySelectorAll(`[data-out="${key}"]`)) place.textContent = text;
    }

    /* A bar of that share of its track; -1 to 1 where the track has its zero in the middle. */
    bar(key, share) {
      this.querySelector(`[data-bar="${key}"]`).style.setProperty("--tf-share", share);
    }
  }

  return TransformerElement;
})();
