/** The system's typefaces: the site loads none. */
import theme from 'vitepress/theme-without-fonts';
import './contrast.css';

export default theme;
