import { Panel } from '../../kit/panel';
import { Mark, Row, Rows } from '../../kit/rows';
import { sourceName, timeOrDate } from '../../look/format';
import { placeOf } from '../../kit/places';
import { href } from '../../store/route';
import { useClock } from '../../store/site';
import type { DeviceEntry } from '../../store/site';
import { lettersOf } from './entries';
import type { Entry } from './entries';

const maxRows = 4;

/** The device of an entry, or how many there are. */
function subject({ device_index: index, devices: indexes }: Entry, devices: readonly DeviceEntry[]): string | null {
  if (index !== null) return devices.find(({ device_index }) => device_index === index)?.name ?? `device ${index}`;
  return indexes.length > 1 ? `${indexes.length} devices` : null;
}

/** The sentence without the title, which it may begin with. */
function sentenceOf({ title, text }: Entry): string {
  const rest = text.startsWith(title) ? text.slice(title.length).replace(/^[:.]\s*/, '') : text;
  return rest.replace(/\.$/, '');
}

function textOf(entry: Entry, devices: readonly DeviceEntry[]): string {
  const { by, count, devices: indexes } = entry;
  const who = by === null ? null : sourceName(by.source);
  const times = count > Math.max(1, indexes.length) ? `${count} times` : null;
  return [subject(entry, devices), sentenceOf(entry), who, times]
    .filter((part) => part !== null && part !== '')
    .join(' · ');
}

/** The last entries, with the letters of the chart. */
export function EventsCard({
  entries,
  devices,
}: {
  readonly entries: readonly Entry[];
  readonly devices: readonly DeviceEntry[];
}) {
  const simTime = useClock()?.sim_time;
  const letters = lettersOf(entries);
  return (
    <Panel title="Last events" tools={<a href={href('events')}>Timeline</a>}>
      {entries.length === 0 ? (
        <p class="muted">Nothing has happened since the start.</p>
      ) : (
        <Rows label="Last events">
          {entries.slice(0, maxRows).map((entry) => (
            <Row
              key={entry.id}
              start={<Mark level={entry.level} />}
              title={
                <a
                  class="one-line"
                  title={entry.title}
                  href={placeOf(entry.ref ?? { type: 'entry', id: String(entry.id) }, entry.device_index).to}
                >
                  {entry.title}
                </a>
              }
              end={
                <>
                  <b class="letter">{letters.get(entry.id)}</b> {timeOrDate(entry.sim_time, simTime ?? entry.sim_time)}
                </>
              }
            >
              <span class="two-lines" title={textOf(entry, devices)}>
                {textOf(entry, devices)}
              </span>
            </Row>
          ))}
        </Rows>
      )}
    </Panel>
  );
}
