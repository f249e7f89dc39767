import { expect } from 'chai';
import { configFileOf } from '../../../src/config/layers/files.ts';
import { findingIssues } from '../../../src/config/layers/findings-block.ts';
import type { FindingsBlock } from '../../../src/config/layers/findings-block.ts';
import type { Issue } from '../../../src/core/errors.ts';
import { plainRule as row } from '../../support/findings.ts';

const rows = new Map([
  [
    'modbus.fast',
    { ...row, severity: 'risk', params: { gap_s: { default: 5, min: 1, max: 60, unit: 's', title: 'Gap' } } } as const,
  ],
  ['dnp3.quiet', row],
]);
const issuesOf = (block: FindingsBlock) =>
  findingIssues(block, 'lab.yaml', rows).map(({ name, detail }) => `${name}: ${detail}`);

const master = { protocol: 'modbus', address: '127.0.0.2' } as const;

describe('block findings of a configuration file', () => {
  it('takes settings of rules, waivers and names', () => {
    expect(
      issuesOf({
        rules: {
          'modbus.fast': { enabled: false, severity: 'remark', params: { gap_s: 60 } },
          'dnp3.quiet': { severity: 'violation' },
        },
        waivers: [{ rule: 'dnp3.quiet', reason: 'agreed' }],
        peers: [
          { name: 'A', match: master },
          { name: 'B', match: [{ ...master, address: '127.0.0.3' }] },
        ],
      }),
    ).to.deep.equal([]);
  });

  it('names the nearest rule for one that there is not', () => {
    expect(issuesOf({ rules: { 'modbus.fats': {} }, waivers: [{ rule: 'dnp3.quit', reason: 'x' }] })).to.deep.equal([
      'lab.yaml: findings.rules: unknown rule "modbus.fats"; nearest known: modbus.fast',
      'lab.yaml: findings.waivers[0].rule: unknown rule; nearest known: dnp3.quiet',
    ]);
  });

  it('refuses to raise a severity', () => {
    expect(issuesOf({ rules: { 'modbus.fast': { severity: 'violation' } } })).to.deep.equal([
      'lab.yaml: findings.rules: the severity of modbus.fast is risk, and can only be lowered',
    ]);
  });

  it('refuses parameters that the rule does not have, and values out of their range', () => {
    expect(issuesOf({ rules: { 'modbus.fast': { params: { gap: 5, gap_s: 0.5 } } } })).to.deep.equal([
      'lab.yaml: findings.rules: modbus.fast has no parameter "gap"',
      'lab.yaml: findings.rules: gap_s of modbus.fast is 0.5; allowed: 1 to 60',
    ]);
  });

  it('refuses a name that stands twice, and a peer with two names', () => {
    expect(
      issuesOf({
        peers: [
          { name: 'A', match: master },
          { name: 'A', match: { ...master, address: '127.0.0.3' } },
          { name: 'B', match: master },
        ],
      }),
    ).to.deep.equal([
      'lab.yaml: findings.peers: "A" stands twice',
      'lab.yaml: findings.peers: "B": the peer has the name "A" already',
    ]);
  });

  it('has the places of what is wrong in its form', () => {
    const issues: Issue[] = [];
    const { findings } = configFileOf(
      {
        mapping: {
          findings: {
            waivers: [{ rule: 'a', until: 'tomorrow' }],
            peers: [{ name: 'A', match: { protocol: 'common', address: 'x' } }],
            other: 1,
          },
        },
        directory: '/',
        label: 'lab.yaml',
      },
      issues,
    );
    expect(findings).to.deep.equal({});
    expect(issues.map(({ name }) => name)).to.have.members([
      'lab.yaml: findings.waivers[0].reason',
      'lab.yaml: findings.waivers[0].until',
      'lab.yaml: findings.peers[0].match.protocol',
      'lab.yaml: findings.other',
    ]);
  });
});
