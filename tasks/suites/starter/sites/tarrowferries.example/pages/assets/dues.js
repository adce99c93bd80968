"use strict";

// Dues of one boat for one stay. The rates come from the tariff of the year.
(function () {
  const field = (name) => document.getElementById(name);
  const DAY = 24 * 60 * 60 * 1000;
  let tariff = null;

  function problem(text) {
    field("problem").textContent = text;
    field("result").replaceChildren();
  }

  function chargedHalfMetres(text, unit) {
    const length = Number(text.trim().replace(",", "."));
    if (!text.trim() || !Number.isFinite(length)) {
      throw new Error("Please give the length over all as one number, such as 30.5.");
    }
    const metres = unit === "ft" ? length * 0.3048 : length;
    if (metres < 3 || metres > 40) {
      throw new Error("A boat of " + metres.toFixed(1) + " m does not fit into our harbours. Is the unit right?");
    }
    return Math.ceil(Math.round(metres * 2000) / 1000);
  }

  function nightsOf(arrival, count) {
    if (!/^2026-[0-9]{2}-[0-9]{2}$/.test(arrival)) {
      throw new Error("Please give a day of arrival in 2026.");
    }
    if (!Number.isInteger(count) || count < 1 || count > 60) {
      throw new Error("A stay is of 1 to 60 nights.");
    }
    const first = Date.parse(arrival + "T00:00:00Z");
    return Array.from({ length: count }, (_, night) => new Date(first + night * DAY));
  }

  function workOut() {
    const harbour = tariff.per_half_metre[field("harbour").value];
    const halves = chargedHalfMetres(field("length").value, field("unit").value);
    const nights = nightsOf(field("arrival").value, Number(field("nights").value));
    const rows = { winter: [0, 0], summer: [0, 0], free: [0, 0] };
    let reduction = 0;
    nights.forEach((night, index) => {
      const day = night.toISOString().slice(5, 10);
      const season = day >= tariff.season.from && day <= tariff.season.to ? "summer" : "winter";
      if ((index + 1) % tariff.free_night === 0) {
        rows.free[0] += 1;
        return;
      }
      let sum = halves * harbour[season];
      if (field("multihull").checked) sum *= tariff.multihull;
      rows[season][0] += 1;
      rows[season][1] += sum;
      if (field("school").checked && night.getUTCDay() <= 4) reduction += sum * tariff.school;
    });
    if (field("power").checked && harbour.power === null) {
      throw new Error("There is no shore power at " + harbour.name + ".");
    }
    const power = field("power").checked ? harbour.power * nights.length : 0;
    const levy = halves / 2 >= tariff.levy.from_metres ? tariff.levy.sum : 0;
    const lines = [
      ["Charged length", (halves / 2).toFixed(1) + " m"],
      ["Nights in winter: " + rows.winter[0], rows.winter[1]],
      ["Nights in summer: " + rows.summer[0], rows.summer[1]],
      ["Free nights: " + rows.free[0], 0],
      ["Reduction for school or club", -reduction],
      ["Shore power", power],
      ["Waste levy", levy],
    ];
    return [harbour.name, lines, rows.winter[1] + rows.summer[1] - reduction + power + levy];
  }

  function show([harbour, lines, sum]) {
    const table = document.createElement("table");
    const add = (name, value) => {
      const row = table.insertRow();
      row.insertCell().textContent = name;
      row.insertCell().textContent = typeof value === "number" ? money(value) : value;
      return row;
    };
    lines.forEach(([name, value]) => add(name, value));
    add("Dues for this stay", sum).className = "sum";
    const head = document.createElement("h2");
    head.textContent = harbour;
    field("problem").textContent = "";
    field("result").replaceChildren(head, table);
  }

  function money(sum) {
    return "EUR " + (Math.round(sum * 100 + 1e-6) / 100).toFixed(2);
  }

  field("dues-form").addEventListener("submit", (event) => {
    event.preventDefault();
    try {
      show(workOut());
    } catch (error) {
      problem(error.message);
    }
  });
  field("dues-form").addEventListener("reset", () => problem(""));

  fetch("/assets/tariff-2026.json")
    .then((reply) => reply.json())
    .then((rates) => {
      tariff = rates;
      for (const [code, harbour] of Object.entries(rates.per_half_metre)) {
        field("harbour").add(new Option(harbour.name, code));
      }
      field("go").disabled = false;
    })
    .catch(() => problem("The tariff could not be loaded. Please try again later."));
})();
