import { Facts } from '../../../kit/panel';
import { dash, dateAndTime, wallDate, words } from '../../../look/format';
import { messageHref } from '../messages';
import type { Finding } from './parts';

type Case = Finding['evidence'][number];

/** Place of a message in the log of its protocol; null: the case has none that is still kept. */
export function placeOf({ channel, message_id: id, message_kept: isKept, device_index: device }: Case) {
  if (channel === null || id === null || !isKept) return null;
  const [protocol = '', ...key] = channel.split('/');
  return { protocol, key: key.join('/'), id, device };
}

function MessageOf({ one }: { readonly one: Case }) {
  const place = placeOf(one);
  if (place !== null) return <a href={messageHref(place)}>{place.id}</a>;
  return <>{one.message_id === null ? dash : `${one.message_id}, no longer kept`}</>;
}

const textOf = (fact: string | number | boolean | null) => (fact === null ? dash : String(fact));

/** The cases of a rule, folded. */
export function Evidence({ row: { title, evidence } }: { readonly row: Finding }) {
  if (evidence.length === 0) return null;
  return (
    <details>
      <summary>
        Evidence ({evidence.length}) <span class="visually-hidden">{title}</span>
      </summary>
      <ol class="cases">
        {evidence.map((one, index) => (
          <li key={index}>
            <p>{one.text}</p>
            <Facts
              rows={[
                ['Time', `${wallDate(one.at)}, simulated ${dateAndTime(one.sim_time)}`],
                one.since === null ? null : ['Since', wallDate(one.since)],
                ['Message', <MessageOf key="message" one={one} />],
                ...Object.entries(one.facts).map(([name, fact]) => [words(name), textOf(fact)] as const),
                one.faults.length === 0 ? null : ['Faults', one.faults.join(', ')],
                one.excuse === null ? null : ['Excused', one.excuse],
              ]}
            />
            {one.excerpt !== null && <pre aria-label="Begin of the message">{one.excerpt}</pre>}
          </li>
        ))}
      </ol>
    </details>
  );
}
