"use strict";

// 底部的提示：没有选过就挡在页面上，选过以后一个月不再出现。
(function () {
  const NAME = "cookie_xuanze";
  const box = document.getElementById("cookie");
  if (document.cookie.split("; ").some((one) => one.startsWith(NAME + "="))) {
    return;
  }
  box.classList.add("kan");
  for (const button of box.querySelectorAll("button")) {
    button.addEventListener("click", () => {
      document.cookie = NAME + "=" + button.value + "; path=/; max-age=2592000; samesite=lax";
      box.classList.remove("kan");
    });
  }
})();
