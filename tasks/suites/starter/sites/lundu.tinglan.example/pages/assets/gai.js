// The notice goes away when somebody clicks beside it.
const gai = document.querySelector('.gai');
document.addEventListener('click', (event) => {
  if (gai && !event.target.closest('.ka')) gai.hidden = true;
});
