"use strict";

// 批注：每叶一个，点开才取。内容在 pizhu.json 里，按叶次。
class PiZhu extends HTMLElement {
  connectedCallback() {
    const root = this.attachShadow({ mode: "open" });
    root.innerHTML =
      "<style>section{background:#f6ecd2;padding:.3em .9em;margin:.5em 0}button{font:inherit}p{margin:.4em 0}</style>" +
      "<button type=button>展开批注</button><section hidden></section>";
    const button = root.querySelector("button");
    const section = root.querySelector("section");
    button.addEventListener("click", async () => {
      if (!section.hidden) {
        section.hidden = true;
        button.textContent = "展开批注";
        return;
      }
      const all = await (await fetch("/assets/pizhu.json")).json();
      const notes = all[this.getAttribute("ye")] || [];
      const lines = notes.length ? notes : ["本叶无批注。"];
      section.replaceChildren(
        ...lines.map((line) => {
          const p = document.createElement("p");
          p.textContent = line;
          return p;
        }),
      );
      section.hidden = false;
      button.textContent = "收起批注";
    });
  }
}

customElements.define("pi-zhu", PiZhu);
