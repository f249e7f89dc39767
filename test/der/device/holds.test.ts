import { expect } from 'chai';
import fc from 'fast-check';
import { Owner } from '../../support/holds.ts';
import type { Values } from '../../support/holds.ts';
import { byModbus, named } from '../../support/map.ts';
import { holds } from '../../support/property.ts';
import { Rig } from '../../support/rig.ts';

const enables = {
  pf_absorb: '704.PFWAbsEna',
  pf_inject: '704.PFWInjEna',
  constant_var: '704.VarSetEna',
  watt_var: '712.Ena',
  volt_var: '705.Ena',
} as const;
type Name = keyof typeof enables;
const names = Object.keys(enables) as readonly Name[];
const on = (...functions: readonly Name[]): Values =>
  Object.fromEntries(functions.map((name) => [enables[name], 'ENABLED']));

function master(rig: Rig, values: Values): void {
  const { bank } = rig.device;
  bank.assign(
    byModbus,
    Object.entries(values).map(([name, value]) => ({ slot: named(bank.layout, name), value })),
  );
}

async function acting(rig: Rig): Promise<string> {
  await rig.run(5);
  return rig.device.trace.now.reactiveDecidedBy;
}

const storage = { types: ['Batt-3Phase'] };

describe('holds of reactive power at a device: the function that acted before acts again', () => {
  // [enabled by a master in this order, the last one acts; functions of the holds, each handed over to the next]
  const cases: readonly (readonly [readonly Name[], readonly (readonly Name[])[]])[] = [
    [['volt_var'], [['pf_inject']]],
    [['volt_var', 'watt_var'], [['constant_var']]],
    [['watt_var', 'volt_var'], [['volt_var']]],
    [['volt_var', 'watt_var'], [['volt_var']]],
    [
      ['volt_var', 'pf_inject'],
      [['constant_var'], ['volt_var']],
    ],
    [
      ['constant_var', 'volt_var', 'pf_inject', 'watt_var'],
      [['pf_inject'], ['volt_var'], ['constant_var']],
    ],
    [
      ['volt_var', 'pf_inject'],
      [['pf_inject', 'pf_absorb'], ['volt_var']],
    ],
  ];
  for (const [before, holds] of cases) {
    const chain = holds.map((each) => each.join(' and ')).join(', then ');
    it(`${before.join(', ')}; held: ${chain}`, async () => {
      const rig = new Rig(storage);
      const owner = new Owner(rig.device.bank, 'csip');
      master(rig, { '704.WSetEna': 'ENABLED', '704.WSetPct': 40, '704.VarSetPct': 20, '704.PFWInj.PF': 0.95 });
      for (const name of before) master(rig, on(name));
      expect(await acting(rig)).to.equal(before.at(-1));
      for (const [i, functions] of holds.entries()) {
        owner.begin(`${i}`, on(...functions), i === 0 ? [] : [`${i - 1}`]);
        expect(await acting(rig)).to.equal(functions[0]);
      }
      owner.end(`${holds.length - 1}`);
      expect(await acting(rig)).to.equal(before.at(-1));
    });
  }

  it('one that a master has enabled in between acts afterwards', async () => {
    const rig = new Rig(storage);
    const owner = new Owner(rig.device.bank, 'csip');
    master(rig, { ...on('volt_var'), '704.VarSetPct': 20 });
    owner.begin('A', on('pf_inject'));
    expect(await acting(rig)).to.equal('pf_inject');
    master(rig, on('constant_var'));
    expect(await acting(rig)).to.equal('constant_var');
    expect(owner.end('A')[0]?.left).to.deep.equal(['704.VarSetEna']);
    expect(await acting(rig)).to.equal('constant_var');
  });

  it('holds of two owners and writes of a master in any order: as if the ended holds had never been', () => {
    const functions = fc.uniqueArray(fc.constantFrom(...names), { minLength: 1, maxLength: 2 });
    const step = fc.oneof(
      fc.record({ kind: fc.constant('begin' as const), owner: fc.nat(1), functions }),
      fc.record({ kind: fc.constant('end' as const), owner: fc.nat(1), functions }),
      fc.record({ kind: fc.constant('master' as const), owner: fc.boolean(), functions }),
    );
    /** One writer over one enable: the value, and the instant at which this value last became true. */
    interface Layer {
      readonly by: string | null;
      readonly on: boolean;
      readonly since: number;
    }
    const rig = new Rig(storage);
    const { bank } = rig.device;
    holds(
      'ended holds leave nothing',
      fc.array(step, { minLength: 1, maxLength: 20 }),
      (steps) => {
        rig.device.command({ kind: 'reset', scope: 'device' }, byModbus);
        const owners = [new Owner(bank, 'csip'), new Owner(bank, 'rest')];
        const layers = new Map<Name, Layer[]>(names.map((name, i) => [name, [{ by: null, on: false, since: i }]]));
        let now = names.length;
        const top = (name: Name) => layers.get(name)!.at(-1)!;
        const without = (by: string) => {
          for (const name of names)
            layers.set(
              name,
              layers.get(name)!.filter((layer) => layer.by !== by),
            );
        };
        const write = (values: ReadonlyMap<Name, boolean>, by: string | null) => {
          for (const name of [...values.keys()].sort((a, b) => top(a).since - top(b).since)) {
            const rises = values.get(name)! && !top(name).on;
            const since = rises ? (now += 1) : top(name).since;
            layers.get(name)!.push({ by, on: values.get(name)!, since });
          }
        };
        for (const one of steps) {
          if (one.kind === 'master') {
            write(new Map(one.functions.map((name) => [name, one.owner])), null);
            master(
              rig,
              Object.fromEntries(one.functions.map((name) => [enables[name], one.owner ? 'ENABLED' : 'DISABLED'])),
            );
          } else {
            const owner = owners[one.owner]!;
            const by = `${one.owner}`;
            const running = owner.holds.ids[0];
            if (one.kind === 'end' && running !== undefined) {
              owner.end(running);
              without(by);
            } else if (one.kind === 'begin') {
              owner.begin(`${(now += 1)}`, on(...one.functions), running === undefined ? [] : [running]);
              const lower = new Map(names.map((name) => [name, layers.get(name)!.filter((layer) => layer.by === by)]));
              write(new Map(names.map((name) => [name, one.functions.includes(name)])), by);
              // handed over: the former hold of this owner is gone
              for (const name of names)
                layers.set(
                  name,
                  layers.get(name)!.filter((layer) => !lower.get(name)!.includes(layer)),
                );
            }
          }
          const enabled = names.filter((name) => top(name).on).sort((a, b) => top(a).since - top(b).since);
          const ranked = names
            .filter((name) => bank.value(named(bank.layout, enables[name])) === 'ENABLED')
            .sort(
              (a, b) =>
                bank.former(named(bank.layout, enables[a])).rank! - bank.former(named(bank.layout, enables[b])).rank!,
            );
          expect(ranked).to.deep.equal(enabled);
        }
        for (const { holds } of owners) holds.close();
      },
      { runs: 200 },
    );
  }).timeout(60_000);
});
