/** `plug`, `unplug`, `charge` and `pause`: connectors of charging stations. */
import type { Client } from '../library/client.ts';
import { DerbenchError } from '../library/error.ts';
import type { ConnectorOption } from '../library/options.ts';
import type { Connector } from '../library/replies.ts';
import { noWords, numberOf, optionOf } from './call.ts';
import type { Call, ClientCommand, Result } from './call.ts';

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

/** The connector of a word: index of a device or name of a station, with `:CONNECTOR`. @throws UsageError */
async function placeOf({ client, words, device }: Call): Promise<Required<ConnectorOption>> {
  const [word = String(device.device ?? ''), ...more] = words;
  noWords(more, 'plug|unplug|charge|pause [STATION]');
  const [, name = '', connector] = /^(.*?)(?::(\d+))?$/s.exec(word) ?? [];
  const stations = await stationsOf(client);
  const station =
    name === '' ? stations[0] : stations.find(({ id, device_index: index }) => id === name || String(index) === name);
  const names = stations.map(({ id, device_index: index }) => `${id} (device ${index})`).join(', ');
  if (station === undefined)
    throw new DerbenchError({
      code: 'unknown-resource',
      detail: `there is no charging station ${JSON.stringify(name)}. Stations: ${names || 'none'}.`,
    });
  return { chargePoint: station.id, connector: connectorOf(connector) };
}

const pathOf = ({ chargePoint, connector }: Required<ConnectorOption>) =>
  `evse/${encodeURIComponent(chargePoint)}/connectors/${connector}`;

function resultOf(place: Required<ConnectorOption>, document: unknown, connector: Connector): Result {
  const { status, power_kw: power, limit_kw: limit, limit_source: source } = connector;
  const where = `${place.chargePoint}, connector ${place.connector}`;
  const by = source === 'none' ? '' : ` (${source})`;
  return { document, lines: [`${where}: ${status}, ${power} kW, limit ${limit} kW${by}`] };
}

/** A command that acts on a connector and shows it. */
function onConnector(act: (call: Call, place: Required<ConnectorOption>) => Promise<unknown>): ClientCommand {
  return async (call) => {
    const place = await placeOf(call);
    const document = await act(call, place);
    return resultOf(place, document, await call.client.connector(place));
  };
}

export const plug = onConnector((call, place) => {
  const soc = optionOf(call, '--soc');
  return call.client.plug(soc === null ? {} : { soc_pct: numberOf(soc.replace(/%$/, ''), '--soc', 0) }, place);
});

export const unplug = onConnector(({ client }, place) => client.unplug(place));

/** A paused session goes on; otherwise one begins. */
export const charge = onConnector(async ({ client }, place) => {
  const { status } = await client.connector(place);
  if (!status.startsWith('suspended')) return client.startCharging(undefined, place);
  const by = status === 'suspended_ev' ? 'ev' : 'evse';
  return client.post(`${pathOf(place)}/resume`, { body: { by } });
});

export const pause = onConnector(({ client }, place) =>
  client.post(`${pathOf(place)}/suspend`, { body: { by: 'evse' } }),
);
