/** Devices that only claim and are told their bounds. */
import { expect } from 'chai';
import type { SimTime } from '../../../src/core/time/clock.ts';
import type { SiteDevice } from '../../../src/der/site/surroundings.ts';

export class FakeDevice implements SiteDevice {
  readonly index: number;
  powerW = 0;
  loadW = 0;
  demandW: number;
  maxInjectW = 1;
  maxAbsorbW = 1;
  minInjectW = 0;
  minAbsorbW = 0;
  /** seconds for which its reach was asked */
  readonly piecesS: number[] = [];
  /** bounds that it was told, from the first on */
  readonly bounds: (readonly [number, number])[] = [];
  readonly siteShare: SiteDevice['siteShare'];

  constructor(index: number, demandW: number) {
    this.index = index;
    this.demandW = demandW;
    const value = <
      K extends 'powerW' | 'loadW' | 'demandW' | 'maxInjectW' | 'maxAbsorbW' | 'minInjectW' | 'minAbsorbW',
    >(
      name: K,
    ) => ({ enumerable: true, get: () => this[name] });
    this.siteShare = Object.defineProperties(
      {
        reachW: (seconds: number) => {
          this.piecesS.push(seconds);
          return this.demandW;
        },
        admit: (floorW: number, ceilingW: number) => {
          this.bounds.push([floorW, ceilingW]);
        },
        meterTap: () => expect.fail('there is no meter'),
      },
      {
        powerW: value('powerW'),
        loadW: value('loadW'),
        demandW: value('demandW'),
        maxInjectW: value('maxInjectW'),
        maxAbsorbW: value('maxAbsorbW'),
        minInjectW: value('minInjectW'),
        minAbsorbW: value('minAbsorbW'),
      },
    ) as unknown as SiteDevice['siteShare'];
  }

  get last(): readonly [number, number] | undefined {
    return this.bounds.at(-1);
  }
}

export const seconds = (s: number): SimTime => Math.round(s * 1e6) as SimTime;
