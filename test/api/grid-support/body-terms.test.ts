import { expect } from 'chai';
import { functionRequest, functionValues } from '../../../src/api/grid-support/registers.ts';
import { isWritable, number } from '../../../src/api/grid-support/members.ts';
import { HttpProblem } from '../../../src/api/http/errors.ts';
import { SimError } from '../../../src/core/errors.ts';
import { createTestBank } from '../../support/map.ts';

/** The issues of an error of the bank, as the client of a request for volt_var reads them. */
function inTerms(error: Error): unknown {
  const { bank } = createTestBank();
  const request = functionRequest('volt_var', '/volt_var', { dept_ref: 'w_max_pct' });
  const problem = functionValues(bank, [request]).inBodyTerms(error);
  return problem instanceof HttpProblem ? problem.issues : problem;
}

describe('errors of the bank in terms of a grid-support request', () => {
  it('give the symbols that are taken as the interface spells them, and numbers as they are', () => {
    const issue = { name: '705.Crv[0].DeptRef', detail: 'is not taken', allowed: ['VAR_MAX_PCT', 2] };
    expect(inTerms(new SimError('MAP_BAD_VALUE', 'refused', [issue]))).to.deep.equal([
      { in: 'body', name: '/volt_var/dept_ref', detail: 'is not taken', allowed: ['var_max_pct', 2] },
    ]);
  });

  it('name the function for a point that the request does not have, and the point', () => {
    expect(
      inTerms(new SimError('MAP_BAD_VALUE', 'refused', [{ name: '705.Crv[0].VRef', detail: 'is low' }])),
    ).to.deep.equal([{ in: 'body', name: '/volt_var', detail: '705.Crv[0].VRef: is low' }]);
  });

  it('say the message of an error without issues', () => {
    expect(inTerms(new SimError('MAP_BAD_VALUE', 'the write was refused'))).to.deep.equal([
      { in: 'body', name: '', detail: 'the write was refused' },
    ]);
  });

  it('leave an error alone that is not about values', () => {
    for (const error of [new SimError('MAP_LOCAL_CONTROL', 'in local control'), new TypeError('a defect')])
      expect(inTerms(error)).to.equal(error);
  });

  it('say of a setting that the device lacks that it does, before anything is written', () => {
    const test = createTestBank({ omit: ['705.Crv.Pri'] });
    let issues: unknown;
    try {
      functionValues(test.bank, [functionRequest('volt_var', '/volt_var', { priority: 'active', response_time_s: 1 })]);
    } catch (error) {
      issues = (error as HttpProblem).issues;
    }
    expect(issues).to.deep.equal([
      { in: 'body', name: '/volt_var/priority', detail: 'the device does not have this setting' },
    ]);
  });

  it('know which members a request may set', () => {
    expect([isWritable(number('WMax')), isWritable(number('WMax', undefined, { readOnly: true }))]).to.deep.equal([
      true,
      false,
    ]);
  });
});
