/** The recorder of all wire traffic: start, stop, size, and its files. */
import { get, post } from '../../api/call';
import type { ReplyOf } from '../../api/call';
import { Action, Refused } from '../../kit/action';
import { Form } from '../../kit/form';
import { Menu } from '../../kit/menu';
import { Facts } from '../../kit/panel';
import { Mark } from '../../kit/rows';
import { duration, fixed, wallTime, words } from '../../look/format';
import { useLive } from '../../store/live';

type State = ReplyOf<'recorder'>;

const paceMs = 2000;
const bytesPerMb = 1024 * 1024;

export const sizeText = (bytes: number): string =>
  bytes < bytesPerMb ? `${fixed(bytes / 1024, 0)}\u00a0KiB` : `${fixed(bytes / bytesPerMb, 1)}\u00a0MiB`;

/** `Recording 4:12`, `Recorded 262 KiB`, or what to press. */
function faceOf({ enabled, since, entries, bytes }: State): string {
  if (enabled && since !== null) return `Recording ${duration(Math.round((Date.now() - Date.parse(since)) / 1000))}`;
  if (enabled) return 'Recording';
  return entries > 0 ? `Recorded ${sizeText(bytes)}` : 'Record all';
}

const file = (format: 'jsonl' | 'pcap') => get('recorder/download', { query: { format } }).address;

export function Recorder() {
  const { data: state, problem } = useLive(get('recorder'), paceMs);
  if (state === undefined) return <Refused problem={problem} />;
  const { enabled, entries } = state;
  return (
    <Menu
      label={`${faceOf(state)}: recorder of all messages`}
      face={
        <>
          <Mark level={enabled ? 'bad' : 'off'} />
          <span>{faceOf(state)}</span>
        </>
      }
    >
      {() => (
        <div class="stack recorder">
          <p class="muted">
            Keeps the messages of all protocols and the findings in one order, with wall and simulated time.
          </p>
          <Facts
            rows={[
              ['Entries', `${entries}, ${sizeText(state.bytes)} of ${state.limit_mb}\u00a0MiB`],
              ...Object.entries(state.by_protocol).map(
                ([name, counts]) => [words(name), `${counts.entries}, ${sizeText(counts.bytes)}`] as const,
              ),
              state.dropped > 0 ? ['Dropped', `${state.dropped}, the oldest`] : null,
              ['Since', wallTime(state.since)],
            ]}
          />
          <div class="row">
            <Action call={post('recorder', { body: { enabled: !enabled } })} primary={!enabled}>
              {enabled ? 'Stop' : 'Start'}
            </Action>
            <Action
              call={post('recorder', { body: { enabled, clear: true } })}
              disabled={entries === 0}
              confirm="Forget the recorded messages?"
            >
              Clear
            </Action>
          </div>
          <Form
            fields={[
              {
                kind: 'number',
                name: 'limit_mb',
                label: 'Memory',
                unit: 'MiB',
                min: 1,
                max: 512,
                step: 1,
                value: state.limit_mb,
              },
            ]}
            submit="Set"
            needsChange
            call={({ limit_mb: limit }) => post('recorder', { body: { enabled, limit_mb: Number(limit) } })}
          />
          {entries > 0 && (
            <p class="row">
              <a class="button" href={file('jsonl')} download="recording.jsonl">
                Download JSONL
              </a>
              <a
                class="button"
                href={file('pcap')}
                download="recording.pcap"
                title="Modbus TCP and DNP3, for Wireshark"
              >
                Download pcap
              </a>
            </p>
          )}
        </div>
      )}
    </Menu>
  );
}
