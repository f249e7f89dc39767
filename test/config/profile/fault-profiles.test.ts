import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { parse } from 'yaml';
import { z } from 'zod';
import { bundledFaultProfileNames, bundledFaultProfilePath } from '../../../src/config/profile/bundled.ts';
import { readFaultProfiles } from '../../../src/config/profile/fault-profiles.ts';
import { helpText } from '../../../src/config/layers/help.ts';
import { faultRequest } from '../../../src/fault-kinds/request.ts';
import { schemaOf } from '../../../scripts/generate-schemas.ts';
import { apiContext } from '../../support/api-context.ts';
import { testPlant } from '../../support/plant.ts';
import { issueLines, fileIssues, run } from '../support.ts';

const mine = 'title: Mine\ndescription: Of our own.\nfaults: [{ kind: drop, every: 2 }]\n';
const published = (name: 'config' | 'device-profile' | 'fault-profile') => z.fromJSONSchema(schemaOf(name));

describe('faults of a configuration', () => {
  it('are none unless they are named', () => {
    expect(run([]).faults).to.deep.equal([]);
    expect(run([]).devices[0]?.faults).to.deep.equal([]);
  });

  it('bundled sets by name, with or without extension, repeated or in a list', () => {
    const names = (argv: readonly string[]) => run(argv).faults.map(({ profile }) => profile);
    expect(names(['--faults', 'slow-answers,no-fc6'])).to.deep.equal(['slow-answers', 'no-fc6']);
    expect(run(['--faults', 'no-fc6.yaml']).faults).to.deep.equal([
      {
        profile: 'no-fc6',
        places: ['no-fc6.yaml: faults[0]'],
        faults: [{ protocol: 'modbus', kind: 'exception', code: 1, carried_out: false, function: 6 }],
      },
    ]);
    expect(run([], { env: { DERBENCH_FAULTS: 'base-0' } }).faults[0]?.profile).to.equal('base-0');
  });

  it('files, relative to where they are named', () => {
    const files = {
      '/site/mine.yaml': mine,
      '/site/sub/c.yaml': 'faults: [other.json, { kind: duplicate }]\n',
      '/site/sub/other.json': '{ "title": "O", "description": "O.", "faults": [{ "kind": "drop" }] }',
    };
    expect(
      run(['--faults', './mine.yaml'], { files }).faults.map(({ profile, places }) => [profile, places]),
    ).to.deep.equal([['mine', ['mine.yaml: faults[0]']]]);
    expect(
      run(['--config', 'sub/c.yaml'], { files }).faults.map(({ profile, places }) => [profile, places]),
    ).to.deep.equal([
      ['other', ['other.json: faults[0]']],
      [null, ['c.yaml: faults[1]']],
    ]);
    expect(
      run(['--config', 'sub/c.yaml', '--faults', 'mine.yaml'], { files }).faults.map(({ profile }) => profile),
    ).to.deep.equal(['mine']);
  });

  it('that are missing or faulty are named where they stand', () => {
    expect(issueLines(['--faults', 'nothing'])[0]).to.match(
      /^--faults: given "\/site\/nothing"; allowed: the path of a file that exists, or a bundled set of faults \(acknowledged-no-effect, /,
    );
    const lines = issueLines(['--faults', 'mine.yaml'], {
      files: {
        '/site/mine.yaml': 'title: Mine\nfaults: [{ kind: nope }, { kind: delay }, { kind: drop, colour: 1 }]\n',
      },
    });
    expect(lines[1]).to.match(/^mine\.yaml: faults\[0\]\.kind: given "nope"; allowed: exception, delay, /);
    expect([lines[0], ...lines.slice(2)]).to.deep.equal([
      'mine.yaml: description: given nothing; allowed: text of 1 to 2000 characters',
      'mine.yaml: faults[1].delay_ms: is required',
      'mine.yaml: faults[2].colour: unknown key',
    ]);
  });

  it('may be a list of none', () => {
    const files = { '/site/c.yaml': 'faults: []\ndevices: [{ faults: [] }]\n' };
    const { faults, devices } = run(['--config', 'c.yaml'], { files });
    expect([faults, devices[0]?.faults]).to.deep.equal([[], []]);
  });

  it('in a configuration file are checked as the rest of it', () => {
    expect(fileIssues('faults: slow-answers\n')[0]).to.match(
      /^c\.yaml: faults: given "slow-answers"; allowed: a list of 0 to 100 entries/,
    );
    expect(fileIssues('faults: [{ kind: nope }]\n')[0]).to.match(
      /^c\.yaml: faults\[0\]\.kind: given "nope"; allowed: exception, delay, /,
    );
    expect(fileIssues('faults: [{ kind: delay, delay_ms: -1 }]\n')).to.deep.equal([
      'c.yaml: faults[0].delay_ms: must be at least 0',
    ]);
    expect(fileIssues('faults: [./nothing.yaml]\n')[0]).to.match(
      /^c\.yaml: faults\[0\]: given "\.\/nothing\.yaml"; allowed: the path of a file/,
    );
    expect(fileIssues('faults: [7, { protocol: mqtt, kind: x }, { kind: reboot }]\n')).to.deep.equal([
      'c.yaml: faults[0]: given 7; allowed: the name of a bundled set, a path, or a fault as a mapping',
      'c.yaml: faults[1].protocol: given "mqtt"; allowed: modbus, csip, ocpp, dnp3, device',
      'c.yaml: faults[2].kind: given "reboot"; allowed: a kind of the protocol modbus; reboot is one of the protocol device',
    ]);
    expect(
      fileIssues('devices: [{ faults: [{ kind: drop, device: 1 }, { kind: nope }] }]\n').map((line) =>
        line.slice(0, 47),
      ),
    ).to.deep.equal(['c.yaml: devices[0].faults[1].kind: given "nope"']);
    expect(fileIssues('devices: [{ faults: [{ kind: drop, device: 1 }] }]\n')).to.deep.equal([
      'c.yaml: devices[0].faults[0].device: given in the entry of a device; allowed: no device here',
    ]);
  });
});

describe('bundled sets of faults', () => {
  for (const type of ['PV-1Phase', 'Batt-3Phase', 'Wind-T4-3Phase', 'Fuelcell-3Phase', 'HybridDC-3Phase', 'EVSE']) {
    it(`fit a device of the type ${type}, each of them`, () => {
      const plant = testPlant({ types: [type] });
      const { faults } = apiContext({ plant });
      for (const profile of readFaultProfiles()) {
        expect(
          faults.inject(
            profile.faults.map((fault) => faultRequest(fault, 0)),
            { source: 'profile' },
            profile.name,
          ),
          profile.name,
        ).to.have.length(profile.faults.length);
      }
    });
  }

  it('are all valid, each with its words, and named by the help', () => {
    const profiles = readFaultProfiles();
    expect(profiles.map(({ name }) => name)).to.deep.equal([...bundledFaultProfileNames]);
    expect(new Set(profiles.map(({ title }) => title)).size).to.equal(profiles.length);
    const help = helpText().replaceAll(/\s+/g, ' ');
    for (const { name, description } of profiles) {
      expect(help, name).to.contain(name);
      expect(description, name).to.match(/^[A-Z].*\.$/s);
    }
  });

  it('pass the published schema, which refuses what is not of its form', () => {
    const schema = published('fault-profile');
    for (const name of bundledFaultProfileNames) {
      expect(schema.safeParse(parse(readFileSync(bundledFaultProfilePath(name) ?? '', 'utf8'))).success, name).to.equal(
        true,
      );
    }
    const withFault = (fault: object) => schema.safeParse({ title: 'T', description: 'D', faults: [fault] }).success;
    expect(withFault({ kind: 'drop' })).to.equal(true);
    for (const wrong of [
      { kind: 'nope' },
      { kind: 'delay' },
      { kind: 'drop', colour: 1 },
      { protocol: 'device', kind: 'drop' },
      {},
    ])
      expect(withFault(wrong), JSON.stringify(wrong)).to.equal(false);
  });

  it('are part of the published schema of a configuration', () => {
    const schema = published('config');
    expect(
      schema.safeParse({ faults: ['slow-answers', { kind: 'drop' }], devices: [{ faults: [{ kind: 'drop' }] }] })
        .success,
    ).to.equal(true);
    expect(schema.safeParse({ faults: [{ kind: 'delay' }] }).success).to.equal(false);
  });
});
