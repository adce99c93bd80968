// The list is shown in pieces: more of it comes when its end is reached.
const lie = document.querySelector('.lie');
const yigong = document.querySelector('.yigong');
let next = 1, busy = false;
async function more() {
  if (busy || next > 3) return;
  busy = true;
  const reply = await fetch(`/assets/piaozheng-${next}.json`);
  for (const one of await reply.json()) {
    const item = document.createElement('li');
    const link = document.createElement('a');
    link.href = `/cangpin/${one.hao}.html`;
    link.textContent = one.ming;
    item.append(link, `　${one.shuo}`);
    lie.append(item);
  }
  next += 1;
  busy = false;
  yigong.textContent = next > 3 ? '已经到底了' : '向下滚动看更多';
}
more();
addEventListener('scroll', () => {
  if (innerHeight + scrollY >= document.body.scrollHeight - 40) more();
});
