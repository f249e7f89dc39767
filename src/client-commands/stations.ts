/** `plug`, `unplug`, `charge` and `pause`: connectors of charging stations. */
import type { Client } from '../library/client.ts';
import { DerbenchError } from '../library/error.ts';
import type { ConnectorOption } from '../library/options.ts';
import type { Connector } from '../library/replies.ts';
import { noWords, numberOf, optionOf } from './call.ts';
import type { Call, ClientCommand } from './call.ts';

interface Station {
  readonly id: string;
  readonly device_index: number;
  readonly connectors: readonly { readonly connector_id: number }[];
}

export async function stationsOf(client: Client): Promise<readonly Station[]> {
  return ((await client.get('evse')) as { readonly evses: readonly Station[] }).evses;
}

/** A device, or a connector of a station: queries of `controls/why`. */
export interface Terminal {
  readonly device: number;
  readonly connector?: number;
}

/** All devices, each station followed by its connectors. */
export async function terminalsOf(client: Client): Promise<readonly Terminal[]> {
  const stations = await stationsOf(client);
  return (await client.devices()).flatMap(({ device_index: device }) => {
    const connectors = stations.find((station) => station.device_index === device)?.connectors ?? [];
    return [{ device }, ...connectors.map(({ connector_id: connector }) => ({ device, connector }))];
  });
}

function connectorOf(text: string | undefined): number {
  return text === undefined ? 1 : numberOf(text, 'the connector', 1);
}

type Place = Required<ConnectorOption>;

/** The connector of a text: index of a device or name of a station, with `:CONNECTOR`; empty: the first station. */
async function placeOf(client: Client, text: string): Promise<Place> {
  const [, name = '', connector] = /^(.*?)(?::(\d+))?$/s.exec(text) ?? [];
  const stations = await stationsOf(client);
  const station =
    name === '' ? stations[0] : stations.find(({ id, device_index: index }) => id === name || String(index) === name);
  const names = stations.map(({ id, device_index: index }) => `${id} (device ${index})`).join(', ');
  if (station === undefined)
    throw new DerbenchError({
      code: 'unknown-resource',
      detail:
        stations.length === 0
          ? 'this simulator has no charging station. "derbench -d EVSE" starts one'
          : `there is no charging station ${JSON.stringify(name)}. Stations: ${names}.`,
    });
  return { chargePoint: station.id, connector: connectorOf(connector) };
}

const pathOf = ({ chargePoint, connector }: Place) => `evse/${encodeURIComponent(chargePoint)}/connectors/${connector}`;

/** @param soc percent of the vehicle that is plugged in; null: that of the profile */
type Action = (client: Client, place: Place, soc: number | null) => Promise<unknown>;

export const connectorActions = {
  plug: (client, place, soc) => client.plug(soc === null ? {} : { soc_pct: soc }, place),
  unplug: (client, place) => client.unplug(place),
  /** A paused session goes on; otherwise one begins. */
  start: async (client, place): Promise<unknown> => {
    const { status } = await client.connector(place);
    if (!status.startsWith('suspended')) return client.startCharging(undefined, place);
    const by = status === 'suspended_ev' ? 'ev' : 'evse';
    return client.post(`${pathOf(place)}/resume`, { body: { by } });
  },
  pause: (client, place) => client.post(`${pathOf(place)}/suspend`, { body: { by: 'evse' } }),
  /** Ends the session; the cable stays. */
  stop: (client, place) => client.stopCharging(place),
} satisfies Readonly<Record<string, Action>>;

interface Acted {
  readonly station: string;
  readonly connector: Connector;
  /** answer of the request */
  readonly document: unknown;
  readonly line: string;
}

/** Acts on the connector of a text and reads it. @throws DerbenchError `unknown-resource` */
export async function actAt(client: Client, text: string, action: Action, soc: number | null): Promise<Acted> {
  const place = await placeOf(client, text);
  const document = await action(client, place, soc);
  const connector = await client.connector(place);
  const { status, power_kw: power, limit_kw: limit, limit_source: source } = connector;
  const by = source === 'none' ? '' : ` (${source})`;
  const line = `${place.chargePoint}, connector ${place.connector}: ${status}, ${power} kW, limit ${limit} kW${by}`;
  return { station: place.chargePoint, connector, document, line };
}

/** @throws UsageError */
function socOf(call: Call): number | null {
  const text = optionOf(call, '--soc');
  return text === null ? null : numberOf(text.replace(/%$/, ''), '--soc', 0);
}

const commandOf =
  (action: Action): ClientCommand =>
  async (call) => {
    const [word = String(call.device.device ?? ''), ...more] = call.words;
    noWords(more, 'plug|unplug|charge|pause [STATION]');
    const { document, line } = await actAt(call.client, word, action, socOf(call));
    return { document, lines: [line] };
  };

export const plug = commandOf(connectorActions.plug);
export const unplug = commandOf(connectorActions.unplug);
export const charge = commandOf(connectorActions.start);
export const pause = commandOf(connectorActions.pause);
