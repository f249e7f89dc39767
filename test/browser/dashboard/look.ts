/**
 * The look of the dashboard in numbers. Sizes were measured in the mock-up of its design (Chromium, 1280 by 800 px where
 * no width is named); colours and contrasts are those of the design's section "Look". A comment says where and why the
 * page differs on purpose.
 */

/**
 * Computed values by property. A number is a length in px: `width` and `height` are those of the box, others those of
 * the style. `columns` counts the columns of a grid.
 */
export type Look = Readonly<Record<string, string | number>>;
/** Values by selector, which may end with `::before` or `::after`. */
export type Looks = Readonly<Record<string, Look>>;

/** Size, line and weight of text. */
const text = (size: number, line?: number, weight?: number): Look => ({
  'font-size': size,
  ...(line !== undefined && { 'line-height': line }),
  ...(weight !== undefined && { 'font-weight': String(weight) }),
});

const card: Look = { 'border-top-left-radius': 8, 'border-top-width': 1 };

const overview: Looks = {
  '.top': { height: 52 },
  '.clock > strong': text(20, undefined, 600),
  '.brand small': text(12),
  '.clock-keys': { height: 30, 'border-top-left-radius': 6 },
  '.clock-keys > button': { height: 28 },
  '.top-end > button': { height: 28, ...text(13) },
  '.side': { width: 196, padding: '12px 8px', 'row-gap': 2 },
  '.side > a': { height: 38, 'border-top-left-radius': 6, 'column-gap': 10 },
  '.side > a[aria-current]': { 'font-weight': '600' },
  '.side .foot': text(12, 17),
  main: { padding: '16px 20px 24px' },
  '.overview': { 'row-gap': 14 },
  '.site-picture': card,
  '.site-head': { padding: '16px 18px 0px', 'column-gap': 20 },
  '.grid-node': { height: 110, padding: '10px 14px', 'border-top-left-radius': 8 },
  '.net .value': text(36, 42, 650),
  '.net .unit': text(17),
  '.net .note': text(12, 16),
  '.in-out': text(13),
  '.in-out .bar': { height: 30, 'border-top-left-radius': 5, 'column-gap': 2 },
  '.in-out .unit': text(11),
  '.key': text(12, 16),
  '.bus': { height: 26 },
  '.bus::after': { height: 5 },
  '.feeders': { columns: 6, 'column-gap': 10 },
  '.feeder > .site-wire': { height: 24 },
  '.feeder-box': { padding: '9px 11px', 'border-top-width': 3, 'border-top-left-radius': 8 },
  '.feeder-box h3': text(13, 20, 600),
  '.feeder-box .icon': { width: 20, height: 20 },
  '.feeder-box .value': text(22, 28, 650),
  '.feeder-box .note': text(12, 16),
  '.feeder-box li': text(13, 17),
  '.feeder-box li > small': text(12, 15),
  '.feeder-box .mark': { width: 8, height: 8 },
  '.overview-cards': { columns: 3, 'column-gap': 14 },
  '.overview-cards > .panel': card,
  '.overview-cards > .panel > header a': { ...text(13), 'text-decoration-line': 'none' },
  '.overview-cards > .panel > .body': { padding: '8px 14px 14px' },
  '.overview-cards h2': text(14, 20, 650),
  '.rows .what': text(14, 20, 600),
  '.rows .note': text(12, 16),
  '.rows .end:not(.figure)': text(12),
  '.rows .end.figure': text(14, 20, 600),
  '.site-chart text:not(.title)': text(11),
  '.site-chart .title': text(12, undefined, 600),
};

const device: Looks = {
  h1: text(20, 28, 650),
  '.title .chip': { ...text(12, 18, 600), padding: '1px 8px', 'border-top-left-radius': 10 },
  '.neighbours > *': { height: 28, ...text(13) },
  '.tabs': { 'column-gap': 4 },
  '.tabs a': { 'border-bottom-width': 2 },
  '.tabs a[aria-current]': { 'font-weight': '600' },
  '.device-page': { columns: 2, 'column-gap': 14 },
  '.node': { 'border-top-left-radius': 8 },
  // 24 px in the mock-up, where the picture is one scaled drawing
  '.node .figure': text(22, 28, 650),
  '.node > span': text(13),
  '.waterfall tr': { height: 42 },
  '.waterfall th': text(13, 17),
  '.waterfall small': text(12, 15),
  '.waterfall .unit': text(11),
  '.waterfall .track > i': { height: 18, 'border-top-left-radius': 3 },
  '.waterfall .track > u': { height: 24, 'border-left-width': 2 },
  '.waterfall .delivered .num': { 'font-weight': '650' },
  '.controls .control + .control': { 'row-gap': 6, 'padding-top': 12, 'border-top-width': 1 },
  '.control-head': text(13, 20, 600),
  '.control-head > small': text(12, undefined, 400),
  '.slider': { 'column-gap': 12 },
  '.slider .track': { height: 28 },
  '.slider .track::before': { height: 4, 'border-top-left-radius': 2 },
  '.slider .track::after': { height: 4, 'border-top-left-radius': 2 },
  '.slider .number': { width: 104, height: 32, 'border-top-left-radius': 6 },
  '.slider .limit': { height: 22, 'border-left-width': 2 },
  '.controls button.small': { height: 28, ...text(13), 'border-top-left-radius': 6 },
  '.controls button.primary': { height: 32, ...text(14), 'border-top-left-radius': 6 },
};

const capture: Looks = {
  h1: text(20, 28, 650),
  'svg.capture text:not(.name)': text(11),
  'svg.capture .name': { 'font-size': 12 },
  '.verdicts thead th': text(12),
  '.verdicts small': text(12, 16),
  '.verdicts .chip': { ...text(12, 18, 600), 'border-top-left-radius': 10 },
};

const compare: Looks = {
  '.matrix thead th': text(12),
  '.matrix tbody th': text(14, 20, 600),
  '.matrix small': text(12, 16),
};

/** Views with their values. */
export const looks: readonly (readonly [path: string, looks: Looks])[] = [
  ['overview', overview],
  ['devices/0/picture', device],
  ['events/captures/1', capture],
  ['compare/all', compare],
];

/** The map of a site with 31 to 300 devices. */
export const mapLooks: Looks = {
  '.cells': { 'column-gap': 3, 'row-gap': 3 },
  '.cells > .cell': { width: 26, height: 26, 'border-top-left-radius': 4 },
  '.heat-map .group': { columns: 2, padding: '10px 14px', 'column-gap': 18 },
  '.group-head': { width: 216 },
  '.group-head h3': text(13, 20, 600),
  '.group-head strong': { 'font-size': 18, 'font-weight': '650' },
  '.map-legend': { ...text(12), padding: '10px 14px' },
};

/** The overview at other widths. */
export const widths: Readonly<Record<number, Looks>> = {
  1920: {
    '.top': { height: 52 },
    '.side': { width: 212 },
    '.overview': { columns: 2 },
    '.overview-cards': { columns: 1, width: 440 },
    '.feeders': { columns: 6 },
  },
  800: {
    '.top': { height: 52 },
    '.side': { width: 60 },
    '.overview-cards': { columns: 1 },
    '.feeders': { columns: 3 },
  },
  390: {
    '.top': { height: 52 },
    '.side': { width: 390, height: 56 },
    '.net .value': text(30),
    '.grid-node': { padding: '8px 10px' },
    '.feeders': { columns: 2 },
  },
};

export const schemes = ['light', 'dark'] as const;

/** Colours in light and dark. */
export const tokens: Readonly<Record<string, readonly [light: string, dark: string]>> = {
  page: ['#f3f5f7', '#0f1215'],
  surface: ['#ffffff', '#181c21'],
  sunk: ['#eef1f4', '#21262d'],
  line: ['#dde2e8', '#2b323a'],
  edge: ['#818b99', '#707b89'],
  text: ['#12171d', '#e9ecf0'],
  muted: ['#535e6c', '#a2adba'],
  accent: ['#0a5cad', '#74b8f5'],
  'accent-soft': ['#e3eefa', '#1b2f44'],
  'on-accent': ['#ffffff', '#0c1218'],
  good: ['#1a6f3c', '#5fcf90'],
  warn: ['#8a5200', '#f2b84f'],
  bad: ['#b3231b', '#ff8c82'],
  off: ['#5b6572', '#98a3b0'],
  'good-soft': ['#e4f3ea', '#17301f'],
  'warn-soft': ['#fbefd9', '#35280f'],
  'bad-soft': ['#fbe7e5', '#3b1d1b'],
  solar: ['#b87c00', '#e9ab24'],
  wind: ['#2b8cc4', '#62b6ea'],
  storage: ['#0b8a63', '#2fb98c'],
  hybrid: ['#b0588a', '#d88bb4'],
  charger: ['#5a55c8', '#9a97f3'],
  load: ['#6b7480', '#8d97a4'],
  grid: ['#2f3a47', '#c3ccd6'],
  p: ['#0072b2', '#56b4e9'],
  q: ['#b85200', '#f0a030'],
  v: ['#007a57', '#2fc79a'],
  f: ['#a8477e', '#e08fbc'],
};

/** Contrast on the surface, in light and dark. */
export const contrasts: Readonly<Record<string, readonly [light: number, dark: number]>> = {
  text: [18, 14.4],
  muted: [6.6, 7.5],
  accent: [6.7, 8.1],
  good: [6.2, 8.8],
  warn: [6.4, 9.6],
  bad: [6.6, 7.6],
  off: [5.9, 6.7],
  edge: [3.5, 4],
  solar: [3.5, 8.4],
  wind: [3.7, 7.7],
  storage: [4.3, 6.9],
  hybrid: [4.6, 6.7],
  charger: [5.9, 6.6],
  load: [4.7, 5.8],
  grid: [11.6, 10.5],
  p: [5.2, 7.4],
  q: [4.9, 8],
  v: [5.4, 8],
  f: [5.4, 7.2],
};

/** Text on a soft ground of its own. */
export const softGrounds: readonly (readonly [text: string, ground: string])[] = [
  ['accent', 'accent-soft'],
  ['good', 'good-soft'],
  ['warn', 'warn-soft'],
  ['bad', 'bad-soft'],
  ['off', 'sunk'],
];
export const leastOnSoft = 5.2;

/** What has a colour, and the token that it has. */
export const fills: Readonly<Record<string, readonly [property: string, token: string]>> = {
  body: ['background-color', 'page'],
  '.top': ['background-color', 'surface'],
  '.side': ['background-color', 'surface'],
  '.side > a[aria-current]': ['background-color', 'accent-soft'],
  '.site-picture': ['background-color', 'surface'],
  '.net .note': ['color', 'muted'],
  '.in-out .bar': ['background-color', 'sunk'],
  '.in-out .bar > .solar': ['background-color', 'solar'],
  '.in-out .bar > .storage': ['background-color', 'storage'],
  '.in-out .bar > .charger': ['background-color', 'charger'],
  '.bus::after': ['background-color', 'edge'],
  '.feeder.solar > .feeder-box': ['border-top-color', 'solar'],
  '.feeder.storage > .feeder-box': ['border-top-color', 'storage'],
  '.feeder.charger > .feeder-box': ['border-top-color', 'charger'],
  '.overview-cards > .panel': ['border-top-color', 'line'],
  '.rows .note': ['color', 'muted'],
  '.site-chart .power': ['stroke', 'p'],
  '.site-chart .possible': ['stroke', 'off'],
};
