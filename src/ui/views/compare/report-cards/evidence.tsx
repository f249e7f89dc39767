import { Facts } from '../../../kit/panel';
import { dash, dateAndTime, wallDate, words } from '../../../look/format';
import { href } from '../../../store/route';
import type { Finding } from './parts';

type Case = Finding['evidence'][number];

/** Address of a message in the view of its protocol. @param key of the channel: the identity of a charge point */
function messageHref(protocol: string, key: string, { message_id, device_index }: Case): string {
  if (protocol === 'ocpp')
    return href('protocols/ocpp', { station: key, 'ocpp-part': 'trace', 'trace-message': message_id });
  return href(`protocols/${protocol}`, {
    ...(device_index !== null && { device: device_index }),
    ...(protocol === 'csip' && { 'csip-part': 'messages' }),
    [`${protocol}-message`]: message_id,
  });
}

function MessageOf({ one }: { readonly one: Case }) {
  const { channel, message_id, message_kept } = one;
  if (channel === null || message_id === null) return <>{dash}</>;
  if (!message_kept) return <>{message_id}, no longer kept</>;
  const [protocol = '', ...key] = channel.split('/');
  return <a href={messageHref(protocol, key.join('/'), one)}>{message_id}</a>;
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
