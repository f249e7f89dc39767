/** Text values of the source points of model 64414, which REST takes too. */
export const gridSources = ['const', 'csv'] as const;
export const irradianceSources = ['const', 'csv', 'clear_sky'] as const;
