// A screenshot with a numbered outline round each element. It is drawn on a canvas that
// is never part of the page, so that the page cannot notice.
(() => {
  const w = globalThis.wildgym;

  /** Boxes of listed elements in this frame's window, cut to `clip`. */
  w.calls.boxes = ({ ids, clip }) => {
    const out = [];
    for (const id of ids) {
      const { el } = w.find(id);
      if (!el) continue;
      const target = w.standIn(el);
      if (!w.seen(target)) continue;
      const rect = w.box(target);
      const left = Math.max(rect.left, clip.left), top = Math.max(rect.top, clip.top);
      const right = Math.min(rect.right, clip.right), bottom = Math.min(rect.bottom, clip.bottom);
      if (right - left < 2 || bottom - top < 2) continue;
      out.push({ id, left, top, width: right - left, height: bottom - top });
    }
    return out;
  };

  // Colours apart from each other by the golden angle: neighbours never look alike.
  const hue = (id) => (id * 137.508) % 360;

  w.calls.draw = async ({ png, boxes }) => {
    const bytes = Uint8Array.from(atob(png), (letter) => letter.charCodeAt(0));
    const picture = await createImageBitmap(new Blob([bytes], { type: 'image/png' }));
    const scale = picture.width / innerWidth;
    const canvas = new OffscreenCanvas(picture.width, picture.height);
    const draw = canvas.getContext('2d');
    draw.drawImage(picture, 0, 0);
    const size = Math.round(11 * Math.max(1, scale));
    draw.font = `bold ${size}px "DejaVu Sans", Verdana, sans-serif`;
    draw.textBaseline = 'top';
    for (const box of boxes) {
      const x = box.left * scale, y = box.top * scale, width = box.width * scale, height = box.height * scale;
      draw.strokeStyle = `hsl(${hue(box.id)} 85% 38%)`;
      draw.lineWidth = 2;
      draw.strokeRect(x + 1, y + 1, Math.max(1, width - 2), Math.max(1, height - 2));
    }
    // Labels last, so that no outline crosses them.
    for (const box of boxes) {
      const text = String(box.id);
      const wide = draw.measureText(text).width + 4, high = size + 3;
      const x = Math.min(Math.max(0, (box.left + box.width) * scale - wide), canvas.width - wide);
      const above = box.top * scale - high;
      const y = above >= 0 ? above : Math.max(0, box.top * scale);
      draw.fillStyle = `hsl(${hue(box.id)} 85% 32%)`;
      draw.fillRect(x, y, wide, high);
      draw.fillStyle = '#fff';
      draw.fillText(text, x + 2, y + 2);
    }
    const blob = await canvas.convertToBlob({ type: 'image/png' });
    const out = new Uint8Array(await blob.arrayBuffer());
    let text = '';
    for (let at = 0; at < out.length; at += 32768) text += String.fromCharCode(...out.subarray(at, at + 32768));
    return btoa(text);
  };
})();
