printf "fp32 1.5\n" >text
dtinfo bench copy --compare text
