/** Charts of time series, whose library is loaded with the first one. */
import { lazy } from '../shell/lazy';
import { ChartRoom } from './chart-room';

export type { ChartMark } from './chart-marks';
export type { Zoom } from './min-max';
export type { ChartData, Series } from './uplot-chart';

export const Chart = lazy(async () => (await import('./uplot-chart')).Chart, ChartRoom);
