/** Rules that hold for each row of the catalogue of findings. */
import { expect } from 'chai';
import { severities } from '../src/core/findings/rule.ts';
import { faultKinds } from '../src/fault-kinds/protocols.ts';
import { catalogueRows, rulesByFault } from '../src/finding-rules/all.ts';
import { plainRule as row } from './support/findings.ts';

const kinds = new Set(faultKinds.map(({ protocol, kind }) => `${protocol}.${kind}`));

describe('catalogue of findings', () => {
  it('names faults that there are', () => {
    const named = [...catalogueRows].flatMap(([id, { provokedBy = [], excusedBy = [] }]) =>
      [...provokedBy, ...(excusedBy === 'none' ? [] : excusedBy)].map((fault) => `${fault} of ${id}`),
    );
    expect(named.filter((text) => !kinds.has(text.split(' ')[0] ?? ''))).to.deep.equal([]);
  });

  it('has a clause or schema for each violation, no empty sentence, and defaults within their ranges', () => {
    const wrong = [...catalogueRows].flatMap(([id, one]) => {
      const { severity, basis, clause, title, situation, proof, consequence, trap, params = {} } = one;
      const empty = Object.entries({ clause, title, situation, proof, consequence, trap }).filter(
        ([, text]) => text === '',
      );
      const outside = Object.entries(params).filter(
        ([, { default: preset, min, max }]) => preset < min || preset > max,
      );
      return [
        ...(severities.includes(severity) ? [] : [`${id} has the severity ${severity}`]),
        ...(severity === 'violation' && basis === 'practice' ? [`${id} is a violation of a practice`] : []),
        ...empty.map(([name]) => `${id} has no ${name}`),
        ...outside.map(([name]) => `${name} of ${id} is outside of its range`),
      ];
    });
    expect(wrong).to.deep.equal([]);
  });

  it('has titles without a full stop, and sentences with one', () => {
    const wrong = [...catalogueRows].flatMap(([id, { title, situation, proof, consequence, trap }]) => [
      ...(/\.$/.test(title) ? [`title of ${id}`] : []),
      ...Object.entries({ situation, proof, consequence, trap }).flatMap(([name, text]) =>
        /\.$/.test(text) ? [] : [`${name} of ${id}: ${text}`],
      ),
    ]);
    expect(wrong).to.deep.equal([]);
  });

  it('has the rules by the faults that provoke them, in the order of names', () => {
    const rows = new Map([
      ['modbus.b', { ...row, provokedBy: ['modbus.drop', 'dnp3.delay'] }],
      ['modbus.a', { ...row, provokedBy: ['modbus.drop'] }],
      ['dnp3.c', row],
    ]);
    expect([...rulesByFault(rows)]).to.deep.equal([
      ['dnp3.delay', ['modbus.b']],
      ['modbus.drop', ['modbus.b', 'modbus.a']],
    ]);
  });
});
