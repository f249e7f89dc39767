/** Requests that would reach another host or a file, in bodies of `api` and in scenarios. */
import { parseYaml } from '../core/yaml.ts';
import { DerbenchError } from '../library/error.ts';

const outwardName = /(^|_)(hosts?|ip|url|uri|address|path|file|dir|folder|report|server)$/i;
/** A step of a scenario whose request cannot be judged by its body: its path comes of a parameter, or CSIP finds servers. */
const unjudgedRequest = /^(GET|POST|PUT|PATCH|DELETE)\s.*(\$\{|csip\/(discover|http-probe))/;

/** The value of a text that may be YAML; a text that cannot be read is one for the simulator too. */
function valueIn(text: string): unknown {
  if (!text.includes(':')) return null;
  try {
    return parseYaml(text);
  } catch {
    return null;
  }
}

function outwardText(text: string, settings: ReadonlySet<string>, name: string): string | null {
  if (unjudgedRequest.test(text)) return name;
  const value = valueIn(text);
  // comments of a YAML text reach nothing
  if (typeof value === 'object' && value !== null) return outwardMember(value, settings, name);
  return text.includes('://') ? name : null;
}

const isText = (value: unknown) =>
  typeof value === 'string' || (Array.isArray(value) && value.some((each) => typeof each === 'string'));

/**
 * The first member that names a host, an address or a file, also in YAML inside a text; null: none does.
 * @param settings names of settings that reach other machines or files
 */
export function outwardMember(body: unknown, settings: ReadonlySet<string>, name = '/body'): string | null {
  if (typeof body === 'string') return outwardText(body, settings, name);
  if (typeof body !== 'object' || body === null) return null;
  for (const [key, value] of Object.entries(body)) {
    const place = `${name}/${key}`;
    if (settings.has(key) || (isText(value) && outwardName.test(key))) return place;
    const inner = outwardMember(value, settings, place);
    if (inner !== null) return inner;
  }
  return null;
}

/** Requests that reach other machines without naming them. */
const outwardPaths = ['csip/discover', 'csip/http-probe'];
/** A scenario on the running simulator could stop it; `run_scenario` has a simulator of its own. */
const scenarioMembers = ['scenario', 'yaml'];

/** The part of a request that reaches outside of the simulator; null: none does. */
export function outwardPart(path: string, body: unknown, settings: ReadonlySet<string>): string | null {
  if (outwardPaths.includes(path)) return '/path';
  const member = /^scenario(s|-runs)(\/|$)/.test(path)
    ? scenarioMembers.find((each) => typeof body === 'object' && body !== null && Object.hasOwn(body, each))
    : undefined;
  return member === undefined ? outwardMember(body, settings) : `/body/${member}`;
}

export function refused(detail: string, name: string): DerbenchError {
  return new DerbenchError({ code: 'refused-by-mcp', detail, issues: [{ name, detail }] });
}

export const outwardRefusal = (name: string) =>
  refused(
    'hosts, addresses, files and scenarios for the running simulator need a server that was started with --allow-outbound',
    name,
  );
