CREATE TABLE `jobs` (
  `id` int(11) NOT NULL AUTO_INCREMENT,
  `status` varchar(10) NOT NULL,
  PRIMARY KEY (`id`)
) ENGINE=InnoDB;
CREATE TABLE public.mails (
  id bigint PRIMARY KEY,
  status text NOT NULL,
  INDEX (status)
);
