/** The pill of the top bar: the number of things to look at; the key `x` opens the worst one. */
import { useEffect, useState } from 'preact/hooks';
import { markSeen, useAttention } from '../store/attention';
import type { AttentionItem } from '../store/attention';
import { causeHref } from '../kit/places';

/** Least time between two announcements, ms. */
const announceMs = 5000;

/** Tells readers of new bad items, one at a time. */
function Announcement({ items }: { readonly items: readonly AttentionItem[] }) {
  const [spoken, setSpoken] = useState<AttentionItem | null>(null);
  const worst = items.find(({ level }) => level === 'bad') ?? null;
  useEffect(() => {
    if (worst === null || worst.id === spoken?.id) return undefined;
    const timer = setTimeout(() => setSpoken(worst), spoken === null ? 0 : announceMs);
    return () => clearTimeout(timer);
  }, [worst?.id, spoken?.id]);
  return (
    <span class="visually-hidden" role="status">
      {spoken === null ? '' : `${spoken.title}. ${spoken.text}`}
    </span>
  );
}

/** The number of items, with a link to the worst one. Absent without any. */
export function AttentionPill() {
  const { items, count } = useAttention() ?? { items: [], count: 0 };
  const [worst] = items;
  return (
    <>
      <Announcement items={items} />
      {worst && (
        <a
          class={`pill ${worst.level}`}
          href={causeHref(worst.ref, worst.device_index)}
          title={items.map(({ title, text }) => `${title}: ${text}`).join('\n')}
          onClick={() => markSeen(worst)}
        >
          <i class={`mark ${worst.level}`} />
          <strong>{count}</strong> <span class="wide-only">to look at</span>
        </a>
      )}
    </>
  );
}
