import { useState } from 'preact/hooks';
import { Panel } from '../../kit/panel';
import { Mark, Row, Rows } from '../../kit/rows';
import { Loading } from '../../kit/states';
import { duration, wallDate } from '../../look/format';
import { goesWhenSeen, markSeen, useAttention } from '../../store/attention';
import type { AttentionItem } from '../../store/attention';
import { causeHref } from '../../kit/places';
import { href } from '../../store/route';

const maxItems = 5;
/** Items of a window in which the cards stand below the picture, so that they end above its fold. */
const maxItemsBelow = 3;

/** Window from which the cards stand beside the picture, or have the height for all items, px. */
const [widePx, tallPx] = [1600, 1000];

function Since({ iso }: { readonly iso: string | null }) {
  if (iso === null) return null;
  const seconds = Math.max(0, Math.round((Date.now() - Date.parse(iso)) / 1000));
  return <time title={wallDate(iso)}>{duration(seconds)} ago</time>;
}

function Item({ item }: { readonly item: AttentionItem }) {
  const { level, title, text, since, ref, device_index: device } = item;
  return (
    <Row
      start={<Mark level={level} />}
      title={
        <a class="one-line" title={title} href={causeHref(ref, device)} onClick={() => markSeen(item)}>
          {title}
        </a>
      }
      end={<Since iso={since} />}
    >
      <span class="attention-note">
        <span class="two-lines" title={text}>
          {text}
        </span>
        {goesWhenSeen(item) && (
          <button type="button" class="link" aria-label={`Seen: ${title}`} onClick={() => markSeen(item)}>
            Seen
          </button>
        )}
      </span>
    </Row>
  );
}

/** The first items of the attention list. */
export function AttentionCard() {
  const attention = useAttention();
  const [isOpen, setOpen] = useState(false);
  const { items, count } = attention ?? { items: [], count: 0 };
  const room = innerWidth >= widePx || innerHeight >= tallPx ? maxItems : maxItemsBelow;
  const shown = isOpen ? items : items.slice(0, room);
  return (
    <Panel
      title={count === 0 ? 'Needs attention' : `Needs attention (${count})`}
      tools={<a href={href('events')}>All</a>}
    >
      {attention === undefined ? (
        <Loading heights={[40]} />
      ) : items.length === 0 ? (
        <p class="muted">Nothing to look at.</p>
      ) : (
        <>
          <Rows label="Needs attention">
            {shown.map((item) => (
              <Item key={item.id} item={item} />
            ))}
          </Rows>
          {items.length > room && (
            <button type="button" class="link" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
              {isOpen ? 'Fewer' : `${items.length - room} more`}
            </button>
          )}
        </>
      )}
    </Panel>
  );
}
