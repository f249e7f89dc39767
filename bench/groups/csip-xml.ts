/** Cost of reading and writing documents of IEEE 2030.5, beside the XML library alone. */
import type { Group } from '../support/group.ts';
import { inCheckout, runJson } from '../support/processes.ts';
import { median, medianOf } from '../support/stats.ts';
import { aimRow, aimTable, figure } from '../support/table.ts';

/** Microseconds per document. */
interface Measured {
  readonly octets: number;
  readonly read: number;
  readonly bareRead: number;
  readonly write: number;
  readonly bareWrite: number;
}

/** One control, a page as clients ask for, and about the largest body that a client takes. */
const sizes = [1, 20, 1200];

export const csipXmlGroup: Group = {
  name: 'csip-xml',
  async run({ rounds, quick }, progress) {
    const results = new Map(sizes.map((controls) => [controls, [] as Measured[]]));
    const worker = inCheckout('bench/workers/csip-xml.mjs');
    for (let round = 1; round <= rounds; round += 1) {
      progress(`csip-xml: round ${round} of ${rounds}`);
      for (const [controls, measured] of results)
        measured.push(await runJson<Measured>(process.execPath, [worker, String(controls), quick ? '100' : '500']));
    }
    const of = (controls: number) => results.get(controls) ?? [];
    const ratio = (controls: number, ours: 'read' | 'write', bare: 'bareRead' | 'bareWrite') =>
      median(of(controls).map((each) => each[ours] / each[bare]));
    const rows = sizes.map((controls) => {
      const us = (name: keyof Measured) => figure(medianOf(of(controls), (each) => each[name]));
      return [
        `${controls} controls, ${medianOf(of(controls), ({ octets }) => octets)} octets`,
        ...[us('read'), us('bareRead'), figure(ratio(controls, 'read', 'bareRead'))],
        ...[us('write'), us('bareWrite'), figure(ratio(controls, 'write', 'bareWrite'))],
      ];
    });
    return [
      {
        title: 'csip-xml: microseconds per DERControlList',
        head: ['', 'read', 'library', 'ratio', 'write', 'library', 'ratio'],
        rows,
        notes: ['library: fast-xml-parser alone, which neither checks the form of a document nor knows its types'],
      },
      aimTable('csip-xml', [
        ...sizes.map((controls) =>
          aimRow(`read/library, ${controls} controls`, ratio(controls, 'read', 'bareRead'), '', { atMost: 3 }),
        ),
        ...sizes.map((controls) =>
          aimRow(`write/library, ${controls} controls`, ratio(controls, 'write', 'bareWrite'), '', { atMost: 3 }),
        ),
      ]),
    ];
  },
};
