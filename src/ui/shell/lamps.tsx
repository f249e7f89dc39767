import { Chip } from '../kit/panel';
import type { Tone } from '../kit/panel';
import { duration } from '../look/format';
import { useAttention } from '../store/attention';
import type { AttentionItem } from '../store/attention';
import { href } from '../store/route';
import type { Overview } from '../store/site';

interface Protocol {
  readonly title: string;
  readonly path: string;
}

const modbus = 'protocols/modbus';

/** By name in `comm_status`; the stream of this page has no lamp. */
const protocols: Readonly<Record<string, Protocol>> = {
  modbus_tcp: { title: 'Modbus', path: modbus },
  modbus_rtu: { title: 'Modbus RTU', path: modbus },
  modbus_proxy: { title: 'Proxy', path: modbus },
  csip: { title: 'CSIP', path: 'protocols/csip' },
  ocpp: { title: 'OCPP', path: 'protocols/ocpp' },
  dnp3: { title: 'DNP3', path: 'protocols/dnp3' },
  sunspec_client: { title: 'SunSpec client', path: 'protocols/sunspec-client' },
};

type Comm = Overview['comm_status'][keyof Overview['comm_status']];

/** Tone of a lamp, and the number of peers or the trouble in words. */
function lookOf({ state, peers }: Comm): { readonly tone: Tone; readonly word: string } {
  if (state === 'error') return { tone: 'bad', word: 'error' };
  if (state === 'retrying') return { tone: 'warn', word: 'retrying' };
  return { tone: peers > 0 ? 'good' : 'off', word: String(peers) };
}

/** Spans up to this one are written in seconds. */
const maxSecondsS = 120;

/** Time since the last message of the peer that is silent for the longest time; null: none is silent. */
function silenceText(items: readonly AttentionItem[], title: string): string | null {
  const since = items.flatMap(({ id, text, since: at }) =>
    id.startsWith('silent/') && text.startsWith(`${title} `) && at !== null ? [Date.parse(at)] : [],
  );
  if (since.length === 0) return null;
  const seconds = Math.max(0, Math.round((Date.now() - Math.min(...since)) / 1000));
  return `silent ${seconds < maxSecondsS ? `${seconds}\u00a0s` : duration(seconds)}`;
}

/** One lamp for each protocol that is on. */
export function Lamps({ overview }: { readonly overview: Overview }) {
  const items = useAttention()?.items ?? [];
  const on = Object.entries(overview.comm_status).filter(([, { enabled }]) => enabled);
  return (
    <nav class="lamps" aria-label="Protocols that are on">
      {on.map(([name, comm]) => {
        const protocol = protocols[name];
        if (protocol === undefined) return null;
        const look = lookOf(comm);
        const silence = look.tone === 'bad' ? null : silenceText(items, protocol.title);
        const { tone, word } = silence === null ? look : { tone: 'warn' as const, word: silence };
        return (
          <a key={name} href={href(protocol.path)} title={comm.detail ?? undefined}>
            <Chip tone={tone}>
              {protocol.title} {word}
            </Chip>
          </a>
        );
      })}
    </nav>
  );
}
