/** Power coefficients of rotors by tip-speed ratio and pitch. */
import type { WindCpModel } from '../../../contract/kinds/wind.ts';

/**
 * Power coefficient of the NREL 5-MW rotor in thousandths, rounded. One row per half tip-speed ratio from 2 to 14.5,
 * with one value per whole degree of pitch from 0 to 30. Origin: ROSCO (Apache-2.0),
 * Examples/Test_Cases/NREL-5MW/Cp_Ct_Cq.NREL5MW.txt.
 */
const nrelCpRows: readonly (readonly number[])[] = [
  [
    24, 28, 32, 36, 41, 45, 49, 53, 57, 61, 65, 68, 71, 74, 76, 78, 79, 80, 80, 80, 79, 78, 77, 75, 73, 71, 68, 64, 60,
    55, 50,
  ],
  [
    55, 63, 69, 76, 82, 88, 93, 98, 102, 106, 109, 111, 112, 112, 112, 112, 110, 108, 105, 102, 98, 93, 87, 80, 73, 65,
    57, 47, 38, 28, 18,
  ],
  [
    101, 110, 119, 126, 133, 138, 143, 146, 149, 150, 151, 150, 149, 146, 142, 138, 132, 124, 116, 106, 96, 84, 72, 59,
    46, 32, 18, 4, -11, -25, -40,
  ],
  [
    155, 165, 173, 180, 186, 190, 193, 195, 195, 193, 190, 184, 178, 169, 158, 147, 133, 119, 103, 87, 69, 52, 34, 15,
    -4, -23, -43, -62, -82, -101, -120,
  ],
  [
    213, 223, 231, 238, 242, 244, 244, 241, 235, 227, 216, 204, 189, 172, 155, 135, 115, 94, 72, 49, 25, 1, -23, -48,
    -73, -99, -124, -149, -173, -197, -220,
  ],
  [
    275, 286, 293, 297, 297, 293, 285, 274, 260, 244, 226, 206, 184, 161, 136, 110, 83, 54, 25, -4, -35, -66, -98, -130,
    -162, -193, -224, -254, -284, -313, -340,
  ],
  [
    342, 350, 351, 346, 338, 325, 309, 291, 271, 248, 223, 197, 168, 137, 105, 72, 37, 1, -36, -73, -113, -152, -192,
    -231, -269, -305, -342, -378, -415, -449, -479,
  ],
  [
    400, 398, 390, 378, 362, 344, 323, 299, 273, 244, 212, 178, 142, 104, 64, 22, -21, -66, -112, -159, -208, -256,
    -303, -348, -391, -435, -480, -526, -569, -607, -639,
  ],
  [
    435, 426, 414, 398, 379, 356, 330, 301, 269, 233, 194, 152, 107, 60, 11, -40, -92, -147, -204, -262, -320, -377,
    -430, -481, -532, -587, -643, -698, -747, -788, -825,
  ],
  [
    453, 443, 430, 412, 390, 363, 333, 298, 258, 215, 168, 117, 63, 6, -52, -114, -178, -245, -313, -382, -449, -512,
    -572, -632, -696, -764, -834, -897, -951, -998, -1045,
  ],
  [
    462, 455, 441, 422, 398, 367, 331, 290, 243, 191, 134, 74, 10, -58, -128, -201, -278, -358, -439, -518, -593, -663,
    -732, -805, -885, -971, -1053, -1123, -1185, -1243, -1302,
  ],
  [
    466, 461, 449, 430, 402, 367, 325, 276, 221, 160, 93, 22, -53, -132, -216, -303, -394, -488, -581, -670, -752, -831,
    -913, -1004, -1106, -1209, -1301, -1381, -1453, -1525, -1600,
  ],
  [
    465, 464, 454, 434, 404, 364, 315, 258, 194, 122, 45, -38, -126, -219, -316, -419, -526, -634, -739, -837, -929,
    -1020, -1119, -1233, -1359, -1478, -1581, -1673, -1760, -1849, -1942,
  ],
  [
    460, 464, 456, 435, 402, 357, 301, 235, 161, 78, -12, -107, -209, -317, -431, -550, -673, -796, -912, -1021, -1124,
    -1230, -1353, -1496, -1645, -1780, -1896, -2003, -2108, -2217, -2331,
  ],
  [
    453, 460, 455, 434, 398, 347, 283, 207, 122, 27, -76, -186, -303, -428, -559, -697, -837, -974, -1103, -1223, -1340,
    -1467, -1620, -1795, -1966, -2116, -2249, -2374, -2501, -2633, -2770,
  ],
  [
    443, 454, 451, 430, 390, 333, 261, 175, 77, -31, -148, -274, -409, -552, -703, -859, -1017, -1170, -1312, -1444,
    -1579, -1734, -1923, -2128, -2321, -2490, -2643, -2790, -2941, -3099, -3265,
  ],
  [
    431, 445, 444, 423, 380, 316, 234, 136, 26, -97, -230, -373, -526, -689, -861, -1038, -1214, -1384, -1539, -1687,
    -1844, -2034, -2261, -2498, -2714, -2905, -3079, -3252, -3431, -3620, -3817,
  ],
  [
    418, 434, 435, 413, 366, 295, 203, 93, -32, -170, -320, -482, -656, -841, -1035, -1233, -1430, -1616, -1786, -1952,
    -2140, -2369, -2636, -2906, -3147, -3361, -3562, -3764, -3976, -4198, -4429,
  ],
  [
    403, 421, 423, 401, 350, 270, 167, 44, -95, -250, -419, -602, -799, -1007, -1225, -1447, -1665, -1868, -2054, -2244,
    -2466, -2739, -3050, -3353, -3622, -3863, -4093, -4328, -4577, -4837, -5105,
  ],
  [
    387, 406, 409, 386, 330, 242, 127, -10, -166, -339, -529, -734, -955, -1189, -1432, -1679, -1920, -2140, -2345,
    -2564, -2826, -3148, -3503, -3841, -4140, -4412, -4675, -4949, -5238, -5539, -5848,
  ],
  [
    368, 389, 392, 367, 307, 210, 82, -70, -244, -437, -649, -879, -1126, -1386, -1657, -1931, -2195, -2433, -2661,
    -2914, -3222, -3595, -3998, -4372, -4705, -5010, -5312, -5628, -5962, -6307, -6659,
  ],
  [
    348, 370, 373, 346, 281, 174, 33, -136, -329, -544, -779, -1036, -1310, -1600, -1901, -2204, -2490, -2748, -3003,
    -3295, -3653, -4083, -4535, -4949, -5318, -5661, -6006, -6369, -6751, -7143, -7542,
  ],
  [
    326, 349, 351, 323, 251, 134, -22, -208, -422, -659, -921, -1206, -1510, -1831, -2164, -2497, -2806, -3087, -3374,
    -3709, -4123, -4613, -5116, -5572, -5981, -6366, -6759, -7174, -7607, -8051, -8500,
  ],
  [
    301, 326, 327, 296, 218, 90, -81, -287, -522, -785, -1075, -1390, -1726, -2080, -2448, -2811, -3144, -3451, -3774,
    -4158, -4632, -5187, -5743, -6245, -6697, -7129, -7575, -8045, -8533, -9032, -9536,
  ],
  [
    274, 300, 301, 266, 182, 41, -146, -372, -631, -921, -1240, -1587, -1958, -2348, -2753, -3147, -3505, -3842, -4206,
    -4643, -5182, -5805, -6418, -6969, -7468, -7952, -8456, -8986, -9533, -10090, -10652,
  ],
  [
    246, 273, 272, 233, 142, -12, -217, -464, -748, -1067, -1418, -1800, -2206, -2636, -3079, -3504, -3891, -4260,
    -4670, -5165, -5776, -6470, -7142, -7745, -8296, -8837, -9404, -9997, -10607, -11228, -11853,
  ],
];

const nrelCpAxes = { firstTipSpeedRatio: 2, tipSpeedRatioStep: 0.5, firstPitchDeg: 0, pitchStepDeg: 1 } as const;

/** Minimum tip-speed ratio of both formulas. */
const minRatio = 0.5;

/** Heier: maximum 0.4800 at tip-speed ratio 8.100 and pitch 0. Unclamped: negative values brake. */
export function heierCp(tipSpeedRatio: number, pitchDeg: number): number {
  if (!(tipSpeedRatio >= minRatio)) return 0;
  const inverse = 1 / (tipSpeedRatio + 0.08 * pitchDeg) - 0.035 / (pitchDeg * pitchDeg * pitchDeg + 1);
  return 0.5176 * (116 * inverse - 0.4 * pitchDeg - 5) * Math.exp(-21 * inverse) + 0.0068 * tipSpeedRatio;
}

/** Slootweg: maximum 0.4412 at tip-speed ratio 6.908 and pitch 0. Unclamped. */
export function slootwegCp(tipSpeedRatio: number, pitchDeg: number): number {
  const relative = tipSpeedRatio - 0.02 * pitchDeg;
  if (!(tipSpeedRatio >= minRatio) || relative <= 0) return 0;
  const inverse = 1 / relative - 0.003 / (pitchDeg * pitchDeg * pitchDeg + 1);
  const pitched = pitchDeg > 0 ? 0.58 * pitchDeg + 0.002 * Math.pow(pitchDeg, 2.14) : 0;
  return 0.73 * (151 * inverse - pitched - 13.2) * Math.exp(-18.4 * inverse);
}

const columns = nrelCpRows[0]?.length ?? 0;
const table = Float64Array.from(nrelCpRows.flat(), (thousandths) => thousandths / 1000);

/** Table of the NREL 5-MW rotor, bilinear; above its last tip-speed ratio the last slope continues. */
export function nrelCp(tipSpeedRatio: number, pitchDeg: number): number {
  const x = Math.max(0, (tipSpeedRatio - nrelCpAxes.firstTipSpeedRatio) / nrelCpAxes.tipSpeedRatioStep);
  const y = Math.min(Math.max(0, pitchDeg), columns - 1);
  const row = Math.min(Math.floor(x), nrelCpRows.length - 2);
  const column = Math.min(Math.floor(y), columns - 2);
  const at = row * columns + column;
  const u = y - column;
  const low = (table[at] ?? 0) * (1 - u) + (table[at + 1] ?? 0) * u;
  const high = (table[at + columns] ?? 0) * (1 - u) + (table[at + columns + 1] ?? 0) * u;
  return low + (high - low) * (x - row);
}

interface CpSurface {
  readonly at: (tipSpeedRatio: number, pitchDeg: number) => number;
  readonly bestRatio: number;
  readonly maxCp: number;
  /** tip-speed ratio below which the torque coefficient is constant */
  readonly firstRatio: number;
  /** maximum pitch of the surface; from there to feather cp is linear */
  readonly lastPitchDeg: number;
}

export const cpSurfaces: Readonly<Record<WindCpModel, CpSurface>> = {
  'nrel-5mw': { at: nrelCp, bestRatio: 7.5, maxCp: 0.466, firstRatio: 2, lastPitchDeg: 30 },
  heier: { at: heierCp, bestRatio: 8.1, maxCp: 0.48, firstRatio: 1, lastPitchDeg: 45 },
  slootweg: { at: slootwegCp, bestRatio: 6.908, maxCp: 0.4412, firstRatio: 2, lastPitchDeg: 45 },
};

export const featherDeg = 90;
/** Feathered blades only drag: the power lost rises with the cube of the rotor speed. */
const featherDrag = 0.004;
/**
 * Tip-speed ratio, far outside the design range, above which the rotor only brakes, with a torque proportional to its
 * speed squared.
 */
const maxRatio = 25;

/** A surface fitted to one rotor: best tip-speed ratio shifted, height scaled. */
export interface RotorCp {
  readonly model: WindCpModel;
  readonly bestRatio: number;
  readonly factor: number;
}

/** Power coefficient of a rotor at any tip-speed ratio from 0 and any pitch from 0 to 90 degrees. */
export function rotorCp(rotor: RotorCp, tipSpeedRatio: number, pitchDeg: number): number {
  const surface = cpSurfaces[rotor.model];
  const stretch = surface.bestRatio / rotor.bestRatio;
  const scaledRatio = tipSpeedRatio * stretch;
  const x = Math.min(Math.max(scaledRatio, surface.firstRatio), maxRatio);
  const pitch = Math.min(pitchDeg, surface.lastPitchDeg);
  let cp = surface.at(x, pitch) * rotor.factor;
  if (scaledRatio < x) cp *= scaledRatio / x;
  else if (scaledRatio > x) cp = Math.min(cp, 0) * Math.pow(scaledRatio / x, 3);
  if (pitch === pitchDeg) return cp;
  const towardsFeather = (pitchDeg - pitch) / (featherDeg - pitch);
  return cp * (1 - towardsFeather) - towardsFeather * featherDrag * Math.pow(tipSpeedRatio, 3);
}
