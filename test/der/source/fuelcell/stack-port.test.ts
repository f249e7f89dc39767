import { expect } from 'chai';
import { mild, oxideBoth, oxideOnly, pemBoth, plantOf, step } from './support.ts';

describe('fuel cell: power of the stack and of the plant', () => {
  for (const [name, input] of [
    ['PEM, both directions', pemBoth],
    ['SOFC, both directions', oxideBoth],
    ['SOFC', oxideOnly],
  ] as const) {
    it(`${name}: the plant at the converted power runs its stack at the wanted one`, () => {
      const port = plantOf(input);
      for (const stackW of 'operating_mode' in input ? [3000, 5000, -1500, -3500] : [3000, 5000]) {
        const dcW = port.stack.dcW(stackW);
        expect(Math.abs(port.stack.stackW(dcW) - stackW)).to.be.below(1e-6);
        for (let i = 0; i < 2000; i += 1) step(port, port.stack.dcW(stackW), 1);
        expect(port.detail().stackPowerW, `${stackW} W`).to.be.closeTo(stackW, 0.5);
      }
      expect([port.stack.dcW(0), port.stack.stackW(0)]).to.deep.equal([0, 0]);
      expect(port.stack.dcW(1e9)).to.be.closeTo(5000, 1e-6);
      expect(port.stack.dcW(-1e9)).to.be.closeTo('operating_mode' in input ? -5000 : 0, 1e-6);
    });
  }

  it('asking changes nothing in the stack that runs', () => {
    const [asked, alone] = [plantOf(pemBoth), plantOf(pemBoth)];
    for (let i = 0; i < 30; i += 1) {
      asked.stack.dcW(-2000 + 150 * i);
      for (const port of [asked, alone]) step(port, 2500, 1, mild);
    }
    expect(asked.detail()).to.deep.equal(alone.detail());
  });
});
