import { lazy } from '../../../shell/lazy';

export const Registers = lazy(async () => (await import('./registers')).RegistersView);
