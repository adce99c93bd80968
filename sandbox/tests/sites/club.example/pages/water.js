fetch("/api/trips").then((reply) => reply.json()).then((found) => {
  document.getElementById("water").textContent = found.count + " trips are planned.";
});
