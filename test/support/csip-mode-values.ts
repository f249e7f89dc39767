/** A value for every control mode of IEEE 2030.5 that has physics. */
import type { ModeName } from '../../src/csip/control/model.ts';
import { curve } from './csip-controls.ts';
import type { Base } from './csip-controls.ts';

/** Curves by href, one for each mode that has one. */
export const curves = {
  '/vv': curve(
    11,
    [
      [92, 40],
      [98, 0],
      [102, 0],
      [108, -40],
    ],
    { yRefType: 2, vRef: 9900, openLoopTms: 700 },
  ),
  '/vw': curve(
    12,
    [
      [103, 100],
      [108, 20],
    ],
    { openLoopTms: 300 },
  ),
  '/wv': curve(
    14,
    [
      [0, 0],
      [50, 0],
      [100, -30],
    ],
    { yRefType: 2 },
  ),
  '/hfmay': curve(1, [
    [0.1, 61.9],
    [200, 61.3],
  ]),
  '/hfmust': curve(2, [
    [0.2, 62.1],
    [200, 61.5],
  ]),
  '/hvmay': curve(3, [
    [0.1, 119],
    [11, 111],
  ]),
  '/hvmc': curve(4, [[0.1, 110]]),
  '/hvmust': curve(5, [
    [0.2, 119],
    [12, 111],
  ]),
  '/lfmay': curve(6, [
    [0.1, 57.2],
    [200, 58.6],
  ]),
  '/lfmust': curve(7, [
    [0.2, 57],
    [200, 58.4],
  ]),
  '/lvmay': curve(8, [
    [0.5, 50],
    [9, 70],
    [19, 88],
  ]),
  '/lvmc': curve(9, [[0.1, 49]]),
  '/lvmust': curve(10, [
    [1, 49],
    [20, 87],
  ]),
};
const link = (href: string) => ({ href });

/** A value for every mode with physics. */
export const values: Base = {
  opModConnect: false,
  opModEnergize: false,
  opModFixedPFAbsorbW: { displacement: 95, excitation: true, multiplier: -2 },
  opModFixedPFInjectW: { displacement: 970, excitation: false, multiplier: -3 },
  opModFixedVar: { refType: 2, value: -2000 },
  opModFixedW: 4000,
  opModFreqDroop: { dBOF: 30, dBUF: 30, kOF: 40, kUF: 40, openLoopTms: 400 },
  opModHFRTMayTrip: link('/hfmay'),
  opModHFRTMustTrip: link('/hfmust'),
  opModHVRTMayTrip: link('/hvmay'),
  opModHVRTMomentaryCessation: link('/hvmc'),
  opModHVRTMustTrip: link('/hvmust'),
  opModLFRTMayTrip: link('/lfmay'),
  opModLFRTMustTrip: link('/lfmust'),
  opModLVRTMayTrip: link('/lvmay'),
  opModLVRTMomentaryCessation: link('/lvmc'),
  opModLVRTMustTrip: link('/lvmust'),
  opModMaxLimW: 6000,
  opModTargetVar: { multiplier: 1, value: 70 },
  opModTargetW: { multiplier: 2, value: 21 },
  opModVoltVar: link('/vv'),
  opModVoltWatt: link('/vw'),
  opModWattVar: link('/wv'),
  opModExpLimW: { multiplier: 0, value: 4500 },
  opModImpLimW: { multiplier: 0, value: 3000 },
  opModGenLimW: { multiplier: 3, value: 5 },
  opModLoadLimW: { multiplier: 3, value: 2 },
  opModStorageTargetW: { multiplier: 2, value: -15 },
};

/** A DERControlBase with these modes. */
export function baseOf(modes: readonly ModeName[], rampTms?: number): Base {
  return Object.fromEntries([
    ...modes.map((mode) => [mode, values[mode]] as const),
    ...(rampTms === undefined ? [] : [['rampTms', rampTms] as const]),
  ]);
}
