/** Calls as commands of `derbench`, where one makes the same request. */
import type { Call } from './call';
import { quoted } from './call-text';

type Members = Readonly<Record<string, unknown>>;

/** Words of a command; null: no command makes this request. */
type Words = readonly string[] | null;

const defaultOrigin = 'http://127.0.0.1:8111';

const isMembers = (value: unknown): value is Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const hasOnly = (members: Members, names: readonly string[]): boolean =>
  Object.keys(members).every((name) => names.includes(name));

const looksLikeNumber = (text: string): boolean => /^[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d{1,3})?$/i.test(text);

/** Words that commands read as another value than their text. */
const reserved = ['', 'none', 'yes', 'no', 'true', 'false'];

/** A value as the text that commands read as this value; null: there is no such text. */
function scalarOf(value: unknown): string | null {
  if (typeof value === 'number') return String(value);
  return typeof value !== 'string' || looksLikeNumber(value) || reserved.includes(value) ? null : value;
}

type TextOf = (value: unknown) => string | null;

/** Pairs NAME=VALUE; null: a value has no text. */
function pairsOf(members: Members, textOf: TextOf): Words {
  const pairs = Object.entries(members)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => {
      const text = textOf(value);
      return text === null ? null : `${name}=${text}`;
    });
  const texts = pairs.filter((pair) => pair !== null);
  return texts.length < pairs.length ? null : texts;
}

/** The text of a member of grid or weather. */
const surroundingText: TextOf = (value) => {
  if (value === null) return 'none';
  return typeof value === 'boolean' ? (value ? 'yes' : 'no') : scalarOf(value);
};

/** The text of a parameter of a fault. */
const parameterText: TextOf = (value) => {
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (!Array.isArray(value)) return scalarOf(value);
  const texts = value.map(scalarOf);
  return texts.length === 0 || texts.some((text) => text === null || text.includes(',')) ? null : texts.join();
};

/** Members with `duration_s` as `--for`. */
function timed(name: string, { duration_s: seconds, ...members }: Members, textOf: TextOf): Words {
  const pairs = pairsOf(members, textOf);
  if (pairs === null || (seconds !== undefined && typeof seconds !== 'number')) return null;
  return [name, ...pairs, ...(seconds === undefined ? [] : ['--for', String(seconds)])];
}

function gridEvent({ event, parameters = {}, ...more }: Members): Words {
  if (typeof event !== 'string' || event === 'normal' || !isMembers(parameters) || !hasOnly(more, [])) return null;
  const pairs = pairsOf(parameters, scalarOf);
  return pairs && ['grid', event, ...pairs.flatMap((pair) => ['--param', pair])];
}

function faultWords({ inject, clear, ...more }: Members): Words {
  if (!hasOnly(more, [])) return null;
  if (clear === true && inject === undefined) return ['fault', 'clear'];
  if (clear !== undefined || !Array.isArray(inject) || inject.length !== 1 || !isMembers(inject[0])) return null;
  const { kind, ...parameters } = inject[0];
  if (typeof kind !== 'string' || ['list', 'clear'].includes(kind)) return null;
  const words = timed('fault', parameters, parameterText);
  return words && ['fault', kind, ...words.slice(1)];
}

function timeWords(body: Members): Words {
  const { mode, rate } = body;
  if (mode === 'paused' && hasOnly(body, ['mode'])) return ['time', 'pause'];
  return mode === 'accelerated' && typeof rate === 'number' && hasOnly(body, ['mode', 'rate'])
    ? ['time', `x${rate}`]
    : null;
}

/** The limit of the export, without an owner. */
function siteWords(body: Members): Words {
  const { export_limit_kw: limitKw } = body;
  if (!hasOnly(body, ['export_limit_kw']) || limitKw === undefined) return null;
  if (limitKw === null) return ['limit', '--export', 'off'];
  return typeof limitKw === 'number' ? ['limit', '--export', `${limitKw}kW`] : null;
}

/** The registers behind `grid-support/max-power`. */
function powerLimitWords(body: Members): Words {
  const { enabled, limit_pct: percent } = body;
  if (!hasOnly(body, ['enabled', 'limit_pct']) || typeof enabled !== 'boolean') return null;
  if (percent !== undefined && typeof percent !== 'number') return null;
  const limit = percent === undefined ? [] : [`704.WMaxLimPct=${percent}`];
  return ['set', ...limit, `704.WMaxLimPctEna=${enabled ? 'ENABLED' : 'DISABLED'}`];
}

function connectorWords(station: string, connector: string, act: string, body: Members): Words {
  const place = `${station}:${connector}`;
  if (act === 'unplug' || act === 'start')
    return hasOnly(body, []) ? [act === 'start' ? 'charge' : 'unplug', place] : null;
  if (act === 'suspend') return hasOnly(body, ['by']) && body['by'] === 'evse' ? ['pause', place] : null;
  const { ev } = body;
  if (act !== 'plug' || !hasOnly(body, ['ev']) || !isMembers(ev) || !hasOnly(ev, ['soc_pct'])) return null;
  const soc = ev['soc_pct'];
  return ['plug', place, ...(typeof soc === 'number' ? ['--soc', String(soc)] : [])];
}

/** @param path below `/api/sim/` */
function wordsOf(path: string, body: Members): Words {
  const [, model] = /^registers\/([\d:]+)$/.exec(path) ?? [];
  if (model !== undefined) {
    const { points } = body;
    if (!hasOnly(body, ['points']) || !isMembers(points)) return null;
    const pairs = pairsOf(points, (value) =>
      typeof value === 'string' && value !== '' && !looksLikeNumber(value) ? value : scalarOf(value),
    );
    return pairs && ['set', ...pairs.map((pair) => `${model}.${pair}`)];
  }
  const [, station, connector, act] = /^evse\/([^/]+)\/connectors\/(\d+)\/(\w+)$/.exec(path) ?? [];
  if (station !== undefined && connector !== undefined && act !== undefined)
    return connectorWords(decodeURIComponent(station), connector, act, body);
  switch (path) {
    case 'controls/grid':
      return timed('grid', body, surroundingText);
    case 'controls/grid/event':
      return gridEvent(body);
    case 'controls/environment':
      return timed('weather', body, surroundingText);
    case 'controls/time':
      return timeWords(body);
    case 'controls/time/step':
      return hasOnly(body, ['ticks']) ? ['time', 'step', ...Object.values(body).map(String)] : null;
    case 'faults':
      return faultWords(body);
    case 'grid-support/max-power':
      return powerLimitWords(body);
    case 'site':
      return siteWords(body);
    default:
      return null;
  }
}

const plain = (word: string): string => (/^[\w.:=%+,@/-]+$/.test(word) ? word : quoted(word));

/** The one list whose values have commas. */
const separatorOf = (name: string): string => (name === 'dnp3_allowed_peers' ? ';' : ',');

/** The value of a setting as the command line takes it; null: none, which goes back to the default. */
function flagText(name: string, value: unknown): string | null {
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (Array.isArray(value)) return value.length === 0 ? null : value.join(separatorOf(name));
  return typeof value === 'number' || (typeof value === 'string' && value !== '') ? String(value) : null;
}

/** Settings as flags of a start; null: one of them has no value. */
function startOf(settings: Members): string | null {
  const flags = Object.entries(settings).map(([name, value]) => {
    const text = flagText(name, value);
    return text === null ? null : `--${name} ${plain(text)}`;
  });
  return flags.length === 0 || flags.includes(null) ? null : ['derbench start', ...flags].join(' ');
}

/** Settings that switch protocols on, by the path of the request. */
const toggles: Readonly<Record<string, string>> = {
  'modbus/enable': 'mb_enable',
  'csip/enable': 'csip_client_enable',
  'ocpp/enable': 'ocpp_enable',
  'dnp3/enable': 'dnp3_enable',
};

/**
 * The command that makes the same request; for changed settings and protocols that are switched on, a start with them.
 *
 * @returns null: there is none
 */
export function commandOf({ method, address, body = {} }: Call, origin = location.origin): string | null {
  if (method === 'PATCH' && address === '/api/sim/settings' && isMembers(body)) return startOf(body);
  if (method !== 'POST' || !isMembers(body)) return null;
  const { pathname, searchParams } = new URL(address, origin);
  const path = pathname.replace('/api/sim/', '');
  const toggle = toggles[path];
  if (toggle !== undefined) return startOf({ [toggle]: true, ...body });
  const words = wordsOf(path, body);
  const isForDevice = [...searchParams.keys()].every((name) => name === 'device');
  // a pair or a word is missing where the body is empty
  if (words === null || words.length < 2 || !isForDevice) return null;
  const device = searchParams.get('device');
  return [
    'derbench',
    ...words.map(plain),
    ...(device === null ? [] : ['--device', device]),
    ...(origin === defaultOrigin ? [] : ['--url', origin]),
  ].join(' ');
}
