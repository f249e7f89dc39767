import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { packageFile } from '../../src/core/package-files.ts';
import { parseYaml } from '../../src/core/yaml.ts';
import { needsPeer } from '../../src/scenario/file/needs-peer.ts';

const step = (expectation: object) => ({ steps: [{ expect: expectation }] });
const when = (condition: object) => ({ steps: [{ when: condition }] });

describe('a scenario needs a peer', () => {
  const needing: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
    'that counts its messages': step({ messages: { protocol: 'ocpp' } }),
    'whose messages come in an order': step({ sequence: { protocol: 'csip', messages: [{}] } }),
    'that breaks a rule, also in a list': {
      steps: [{ expect: [{ no_alarm: true }, { finding: { rule: 'modbus.x' } }] }],
    },
    'that brings about the situations of rules': { finally: [{ expect: { exercised: ['dnp3.x'] } }] },
    'that breaks none from start to end': { steps: [{ after: 1 }], always: [{ no_findings: true }] },
    'whose message it awaits, also one of several': when({
      any: [{ point: '701.W', above: 1 }, { message: { protocol: 'modbus' } }],
    }),
    'whose write it awaits': when({ write: { model: 704 } }),
    'whose event it awaits': when({ all: [{ csip_event: { state: 'started' } }] }),
    'for which the clock stands still': when({ point: '704.WMaxLimPct', below: 50, real_timeout: '1 min' }),
    'in a loop': { steps: [{ repeat: 2, steps: [{ when: { message: { protocol: 'ocpp' } } }] }] },
    'in a rule': { steps: [{ after: 1 }], rules: [{ when: { write: { model: 704, source: 'dnp3' } }, steps: [{}] }] },
  };
  for (const [title, content] of Object.entries(needing))
    it(title, () => {
      expect(needsPeer(content)).to.equal(true);
    });

  it('but not for what the simulator does by itself', () => {
    for (const content of [
      step({ point: '701.W', above: 1 }),
      step({ messages: { protocol: 'ocpp', at_most: 0 } }),
      step({ answered: true }),
      step({ consistent: true }),
      when({ write: { model: 704, source: 'rest' } }),
      when({ point: '701.W', above: 1 }),
      { steps: 'none' },
    ])
      expect(needsPeer(content), JSON.stringify(content)).to.equal(false);
  });

  it('but for the Modbus master that the simulator itself is', () => {
    const steps = [{ call: { request: 'POST /sunspec-client/connect', body: { device: 0 } } }];
    expect(needsPeer({ steps: [...steps, { when: { write: { model: 704 } } }] })).to.equal(false);
    expect(needsPeer({ steps: [...steps, { when: { message: { protocol: 'modbus' } } }] })).to.equal(false);
    expect(needsPeer({ steps: [...steps, { when: { message: { protocol: 'ocpp' } } }] })).to.equal(true);
  });

  it('as do those for peers, and none of those that come with the program', () => {
    const namesThat = (folder: string, needs: boolean) => {
      const directory = packageFile(folder);
      const files = readdirSync(directory).filter((name) => name.endsWith('.yaml'));
      const contentOf = (name: string) =>
        parseYaml(readFileSync(join(directory, name), 'utf8')) as Record<string, unknown>;
      return files.filter((name) => needsPeer(contentOf(name)) === needs);
    };
    expect(namesThat('config/scenarios/with-peers', false)).to.deep.equal([]);
    expect(namesThat('config/scenarios', true)).to.deep.equal([]);
  });
});
