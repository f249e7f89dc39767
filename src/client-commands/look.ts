/** `devices`, `why` and `health`. */
import { exitCodes } from '../core/exit-codes.ts';
import { DerbenchError } from '../library/error.ts';
import type { Device } from '../library/replies.ts';
import { noWords } from './call.ts';
import type { ClientCommand } from './call.ts';
import { fetchByHttp } from './fetch.ts';
import { shown, table } from './output.ts';
import type { Column } from './output.ts';
import { terminalsOf } from './stations.ts';

function addressOf({ modbus, charge_point_id: station }: Device): string {
  if (modbus === null) return shown(station);
  return `${modbus.host}:${modbus.port} unit ${modbus.unit_id}${modbus.tls ? ' TLS' : ''}`;
}

const deviceColumns: readonly Column<Device>[] = [
  { head: '#', cell: (of) => String(of.device_index), isNumber: true },
  { head: 'name', cell: (of) => of.name },
  { head: 'kind', cell: (of) => of.device_type },
  { head: 'state', cell: (of) => of.status.inverter_state },
  { head: 'P kW', cell: (of) => shown(of.metrics.power_kw), isNumber: true },
  { head: 'Q kvar', cell: (of) => shown(of.metrics.reactive_power_kvar), isNumber: true },
  { head: 'SoC %', cell: (of) => shown(of.metrics.state_of_charge_pct), isNumber: true },
  { head: 'alarms', cell: (of) => String(of.alarms.active_count), isNumber: true },
  { head: 'Modbus or station', cell: addressOf },
];

export const devices: ClientCommand = async ({ client, words, device }) => {
  noWords(words, 'devices');
  const document = await client.get('devices', { query: { ...device } });
  return { document, lines: table(deviceColumns, document.devices) };
};

interface Why {
  readonly device_index: number;
  readonly connector_id: number | null;
  readonly sentence: string;
}

const terminalOf = ({ device_index: device, connector_id: connector }: Why) =>
  `device ${device}${connector === null ? '' : `, connector ${connector}`}`;

export const why: ClientCommand = async (call) => {
  const { client, words, options, device } = call;
  noWords(words, 'why [--device K|--all]');
  const ask = (query: object) => client.get('controls/why', { query: { ...query } }) as Promise<Why>;
  if (!options.has('--all')) {
    const document = await ask(device);
    return { document, lines: [document.sentence] };
  }
  const answers: Why[] = [];
  for (const query of await terminalsOf(client)) answers.push(await ask(query));
  return { document: answers, lines: answers.map((of) => `${terminalOf(of)}: ${of.sentence}`) };
};

const healthLimitMs = 2000;

interface Health {
  readonly status: string;
  readonly tick: number;
  readonly tick_age_s: number;
}

/** A simulator that stands still or stops answers 503 with its health, which the client would take for a refusal. */
export const health: ClientCommand = async ({ client, words }) => {
  noWords(words, 'health');
  const init = { method: 'GET', headers: {}, signal: AbortSignal.timeout(healthLimitMs) };
  const answer = await fetchByHttp(`${client.url}/api/sim/health`, init).catch((cause: unknown) => {
    const detail = `${client.url} gives no answer: ${cause instanceof Error ? cause.message : String(cause)}`;
    throw new DerbenchError({ code: 'not-reachable', detail, cause });
  });
  const text = await answer.text();
  if (!text.startsWith('{"status":')) throw new DerbenchError({ code: 'unknown', detail: text, status: answer.status });
  const document = JSON.parse(text) as Health;
  const { status, tick, tick_age_s: age } = document;
  const code = status === 'ok' ? exitCodes.ok : exitCodes.internal;
  return { document, lines: [`${status}: tick ${tick}, ${age} s ago`], code };
};
