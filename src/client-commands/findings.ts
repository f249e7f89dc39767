/** `findings`: broken rules of peers, and what needs attention, undone commands and refused writes among it. */
import { noWords } from './call.ts';
import type { ClientCommand } from './call.ts';
import { table } from './output.ts';
import type { Column } from './output.ts';

interface Finding {
  readonly severity: string;
  readonly rule: string;
  readonly peer: { readonly address?: string; readonly name?: string | null };
  readonly count: number;
  readonly title: string;
}

interface Item {
  readonly level: string;
  readonly title: string;
  readonly text: string;
  readonly devices: readonly number[];
}

const findingColumns: readonly Column<Finding>[] = [
  { head: 'severity', cell: ({ severity }) => severity },
  { head: 'cases', cell: ({ count }) => String(count), isNumber: true },
  { head: 'rule', cell: ({ rule }) => rule },
  { head: 'peer', cell: ({ peer }) => peer.name ?? peer.address ?? '-' },
  { head: 'what', cell: ({ title }) => title },
];

export const findings: ClientCommand = async ({ client, words, device }) => {
  noWords(words, 'findings');
  const answer = (await client.get('findings', { query: { ...device } })) as { readonly findings: readonly Finding[] };
  const attention = (await client.get('attention')) as { readonly items: readonly Item[] };
  const items = attention.items.filter(({ devices }) => device.device === undefined || devices.includes(device.device));
  const broken = answer.findings.length === 0 ? ['no rule is broken'] : table(findingColumns, answer.findings);
  const texts = items.map(({ level, title, text }) => `${level.padEnd(6)}${title}: ${text}`);
  return {
    document: [answer, { ...attention, items }],
    lines: [...broken, '', ...(texts.length === 0 ? ['nothing needs attention'] : texts)],
  };
};
