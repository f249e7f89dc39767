/** One device type of each kind. */
export const kindTypes = [
  'PV-3Phase',
  'PV-1Phase',
  'Batt-3Phase',
  'Wind-T4-3Phase',
  'Fuelcell-3Phase',
  'HybridDC-3Phase',
  'EVSE',
] as const;

interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

export interface Exposition {
  readonly families: ReadonlyMap<string, { readonly type: string; readonly help: string }>;
  readonly samples: readonly Sample[];
  /** the one sample that has these labels, maybe among others; undefined: there is none */
  readonly value: (name: string, labels?: Readonly<Record<string, string>>) => number | undefined;
}

const labelPattern = /([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\[\\"n])*)"(?:,|$)/y;
const unescaped = (text: string) => text.replaceAll(/\\(.)/g, (_, c: string) => (c === 'n' ? '\n' : c));

function parseLabels(text: string): Record<string, string> {
  const labels: Record<string, string> = {};
  labelPattern.lastIndex = 0;
  while (labelPattern.lastIndex < text.length) {
    const [, name, value] = labelPattern.exec(text) ?? [];
    if (name === undefined || value === undefined || name in labels) throw new Error(`labels: ${text}`);
    labels[name] = unescaped(value);
  }
  return labels;
}

/**
 * Reads the Prometheus text exposition format 0.0.4 strictly: HELP and TYPE precede the samples of a family, which are contiguous.
 * @throws Error with the line that does not fit
 */
export function parseExposition(text: string): Exposition {
  const families = new Map<string, { type: string; help: string }>();
  const samples: Sample[] = [];
  let current = '';
  let help: { name: string; text: string } | undefined;
  if (!text.endsWith('\n')) throw new Error('no newline at the end');
  for (const line of text.split('\n')) {
    if (line === '') continue;
    const [, word, name = '', rest = ''] = /^# (HELP|TYPE) ([a-zA-Z_:][a-zA-Z0-9_:]*) (.+)$/.exec(line) ?? [];
    if (word === 'HELP') {
      help = { name, text: unescaped(rest) };
    } else if (word === 'TYPE') {
      if (help?.name !== name || families.has(name) || !['counter', 'gauge'].includes(rest)) throw new Error(line);
      families.set(name, { type: rest, help: help.text });
      current = name;
    } else {
      const [, sample, labels = '', value] =
        /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.+)\})? (-?\d+(?:\.\d+)?(?:e[+-]\d+)?)$/.exec(line) ?? [];
      if (sample === undefined || sample !== current) throw new Error(line);
      samples.push({ name: sample, labels: parseLabels(labels), value: Number(value) });
    }
  }
  return {
    families,
    samples,
    value(name, labels = {}) {
      const found = samples.filter(
        (each) => each.name === name && Object.entries(labels).every(([label, text]) => each.labels[label] === text),
      );
      if (found.length > 1) throw new Error(`${found.length} samples of ${name}`);
      return found[0]?.value;
    },
  };
}
