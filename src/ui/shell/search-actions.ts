/** Actions that the search offers: those of the site, of a device, and of a connector. */
import { post } from '../api/call';
import type { Call, ReplyOf } from '../api/call';
import type { DeviceEntry } from '../store/site';
import { captureNowCall } from '../views/events/captures/announce';
import { connectorCall } from '../views/devices/connector';
import { togglePauseCall } from './shortcuts';

export interface SearchAction {
  readonly label: string;
  /** part of the label that a text must have a word of, so that the name of a device does not find all its actions */
  readonly verb: string;
  readonly note: string;
  readonly call: Call;
}

const event = (name: 'sag' | 'swell' | 'outage' | null, parameters: Readonly<Record<string, number>> = {}) =>
  post('controls/grid/event', { body: { event: name, ...(name !== null && { parameters }) } });

/** Made at each search: the mode in which the clock goes on may have changed. */
const siteActions = (): readonly SearchAction[] =>
  (
    [
      {
        label: 'Start a sag',
        note: 'to 50\u00a0% for 0.5\u00a0s',
        call: event('sag', { residual_pu: 0.5, duration_s: 0.5 }),
      },
      {
        label: 'Start a swell',
        note: 'to 115\u00a0% for 1\u00a0s',
        call: event('swell', { level_pu: 1.15, duration_s: 1 }),
      },
      { label: 'Start an outage', note: 'for 2\u00a0s', call: event('outage', { duration_s: 2 }) },
      { label: 'End the grid event', note: 'all devices', call: event(null) },
      { label: 'Capture now', note: 'sub-steps of all devices', call: captureNowCall },
      { label: 'Pause the clock', note: 'action', call: togglePauseCall(false) },
      { label: 'Run the clock', note: 'action', call: togglePauseCall(true) },
    ] as const
  ).map((each) => ({ ...each, verb: each.label }));

function actionsOfDevice({ device_index: device, name }: DeviceEntry): readonly SearchAction[] {
  const note = `${device} ${name}`;
  const query = { device };
  const command = (
    body: { readonly command: 'start' | 'stop' } | { readonly command: 'reset'; readonly scope: 'alarms' },
  ) => post('commands', { query, body });
  const action = (verb: string, call: Call) => ({ label: `${verb} device ${device}`, verb, note, call });
  return [
    action('Start', command({ command: 'start' })),
    action('Stop', command({ command: 'stop' })),
    action('Clear alarms of', command({ command: 'reset', scope: 'alarms' })),
    action('Local control of', post('controls/local', { query, body: { local: true } })),
    action('Remote control of', post('controls/local', { query, body: { local: false } })),
  ];
}

type Station = ReplyOf<'evse'>['evses'][number];

/** Only one of plug and unplug applies. */
function actionsOfStation({ id, device_index: device, connectors }: Station): readonly SearchAction[] {
  return connectors.map(({ connector_id: cid, cable }) => {
    const isPlugged = cable.ev_plugged && cable.evse_plugged;
    const verb = isPlugged ? 'Unplug' : 'Plug in';
    return {
      label: `${verb} at device ${device}`,
      verb,
      note: `${id}, connector ${cid}`,
      call: connectorCall(id, cid, isPlugged ? 'unplug' : 'plug'),
    };
  });
}

export function searchActions(devices: readonly DeviceEntry[], stations: readonly Station[]): readonly SearchAction[] {
  return [...siteActions(), ...stations.flatMap(actionsOfStation), ...devices.flatMap(actionsOfDevice)];
}
