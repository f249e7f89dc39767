/** An entry of the timeline with its cause: the message, capture, device or run of a scenario. */
import { anyCall, get } from '../../../api/call';
import { deviceLabel } from '../../../kit/choices';
import { Facts, Panel } from '../../../kit/panel';
import { placeOf } from '../../../kit/places';
import type { Ref } from '../../../kit/places';
import { Loading } from '../../../kit/states';
import { dateAndTime, show, wallDate, words } from '../../../look/format';
import { useLive } from '../../../store/live';
import { deviceHref, setParam } from '../../../store/route';
import type { DeviceEntry } from '../../../store/site';
import type { TimelineEntry } from '../../../store/timeline';
import { VerdictChips } from '../captures/verdict-words';
import { writerText } from './entries';

function CaptureCause({ id }: { readonly id: string }) {
  const { data, problem } = useLive(get('captures/{id}', { params: { id } }), 'once');
  if (problem !== null) return <p class="muted">The capture is not kept any more.</p>;
  if (data === undefined) return <Loading heights={[28]} />;
  return <VerdictChips verdicts={data.verdicts} />;
}

/** The call for one message of a protocol. @param id such as `ocpp/CP-1/17` */
function messageCall(id: string) {
  const channel = id.slice(0, id.lastIndexOf('/'));
  const number = Number(id.slice(id.lastIndexOf('/') + 1));
  const path = channel.split('/').map(encodeURIComponent).join('/');
  return anyCall('GET', `${path}/messages`, { after_id: number - 1, to_id: number, limit: 1 });
}

function MessageCause({ id }: { readonly id: string }) {
  const { data, problem } = useLive(messageCall(id), 'once');
  const [message] = (data as { readonly messages: readonly unknown[] } | undefined)?.messages ?? [];
  if (problem !== null) return <p class="muted">{problem.message}</p>;
  if (data === undefined) return <Loading heights={[120]} />;
  if (message === undefined) return <p class="muted">The message is not kept any more.</p>;
  return (
    <pre class="payload" tabIndex={0} aria-label="Message">
      {JSON.stringify(message, null, 2)}
    </pre>
  );
}

/** The message of a write, whose place is a point. */
function WrittenBy({ id }: { readonly id: string }) {
  const { title, to } = placeOf({ type: 'message', id }, null);
  return (
    <details>
      <summary>Message that made it</summary>
      <MessageCause id={id} />
      <a href={to}>{title}</a>
    </details>
  );
}

function RunCause({ name }: { readonly name: string }) {
  const { data } = useLive(get('scenarios'), 'change');
  const run = data?.scenarios.find((each) => each.name === name || each.id === name)?.run;
  return run ? <Facts rows={[['Run', words(run.state)]]} /> : null;
}

function CauseOf({ of: { type, id } }: { readonly of: Ref }) {
  switch (type) {
    case 'capture':
      return <CaptureCause id={id} />;
    case 'message':
      return <MessageCause id={id} />;
    case 'scenario':
      return <RunCause name={id} />;
    default:
      return null;
  }
}

const maxDevices = 12;

function DeviceLinks({
  indexes,
  devices,
}: {
  readonly indexes: readonly number[];
  readonly devices: readonly DeviceEntry[];
}) {
  return (
    <ul class="plain">
      {indexes.slice(0, maxDevices).map((index) => {
        const device = devices.find(({ device_index }) => device_index === index);
        return (
          <li key={index}>
            <a href={deviceHref(index, 'picture')}>{device ? deviceLabel(device) : `device ${index}`}</a>
            {device && (
              <small class="muted">
                {' '}
                now {words(device.kind_state)}, {show(device.power_kw, 'activePower')}
              </small>
            )}
          </li>
        );
      })}
      {indexes.length > maxDevices && <li class="muted">and {indexes.length - maxDevices} more</li>}
    </ul>
  );
}

interface CauseProps {
  readonly entry: TimelineEntry;
  readonly devices: readonly DeviceEntry[];
}

export function Cause({ entry, devices }: CauseProps) {
  const { ref, device_index: device } = entry;
  const place = ref && placeOf(ref, device);
  return (
    <Panel
      title={entry.title}
      tools={
        <button type="button" class="quiet" onClick={() => setParam('entry', null)}>
          Close
        </button>
      }
    >
      <div class="stack">
        <p>{entry.text}</p>
        {ref && <CauseOf of={ref} />}
        {ref?.type !== 'message' && entry.message !== null && <WrittenBy id={entry.message} />}
        {place && (
          <p>
            <a class="button" href={place.to}>
              {place.title}
            </a>
          </p>
        )}
        <Facts
          rows={[
            ['Time', dateAndTime(entry.sim_time)],
            ['Wall time', wallDate(entry.wall_time)],
            ['Kind', words(entry.kind)],
            ['By', writerText(entry)],
            entry.count > 1 ? ['Times', entry.count] : null,
            entry.devices.length > 0
              ? [
                  entry.devices.length === 1 ? 'Device' : 'Devices',
                  <DeviceLinks indexes={entry.devices} devices={devices} />,
                ]
              : null,
          ]}
        />
      </div>
    </Panel>
  );
}
