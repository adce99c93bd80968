// The appeal of the friends goes away when somebody clicks beside it.
const cover = document.querySelector('.cover');
document.addEventListener('click', (event) => {
  if (cover && !event.target.closest('.card')) cover.hidden = true;
});
